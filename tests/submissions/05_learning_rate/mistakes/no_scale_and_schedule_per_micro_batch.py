"""Adds gradients up and moves the schedule on with every backward."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("schedule-per-micro-batch", "no-scale")
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y)).backward()
            scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates
