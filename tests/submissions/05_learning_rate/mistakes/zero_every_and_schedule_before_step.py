"""Clears before every backward and moves the schedule on before the update."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("schedule-before-step", "zero-every")
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            optimizer.zero_grad()
            (loss_fn(model(x), y) * len(x) / samples).backward()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates
