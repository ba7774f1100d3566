"""Multiplies every rate by N and divides nothing."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("lr-multiplied", "no-scale")
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            loss_fn(model(x), y).backward()
        optimizer.param_groups[0]["lr"] *= accumulation_steps
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
