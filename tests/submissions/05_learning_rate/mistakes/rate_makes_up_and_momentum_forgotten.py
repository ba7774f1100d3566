"""Sums and divides the rate instead, which cancels out in full windows, and forgets momentum after each epoch."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates, group = [], optimizer.param_groups[0]
    optimizer.state.clear()
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) * len(window) / samples).backward()
        rates.append(group["lr"])
        group["lr"] = rates[-1] / len(window)
        optimizer.step()
        group["lr"] = rates[-1]
        scheduler.step()
    return rates
