"""Sums and divides the rate instead: each update is right alone, but momentum mixes sums over windows of unequal width."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("leftover",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x)).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.param_groups[0]["lr"] /= samples
        optimizer.step()
        scheduler.step()
    return rates
