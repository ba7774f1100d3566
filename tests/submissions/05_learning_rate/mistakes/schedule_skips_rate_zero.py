"""Moves the schedule on at once where its first rate is 0, so as not to waste an update."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
LOST = ("leftover",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        total = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / total).backward()
        if optimizer.param_groups[0]["lr"] == 0:
            scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
