"""Starts the schedule again in every epoch."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("schedule-restarts",)
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    scheduler.last_epoch = -1
    scheduler.step()
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
