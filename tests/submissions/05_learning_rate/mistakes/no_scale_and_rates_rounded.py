"""Adds gradients up, and rounds the rates it returns to six decimals."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("no-scale",)
LOST = ("updates", "leftover", "rates")
SAYS = ("The numbers returned are not the rates that were due. Each of your rates is the one that is due, rounded to",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            loss_fn(model(x), y).backward()
        rates.append(round(optimizer.param_groups[0]["lr"], 6))
        optimizer.step()
        scheduler.step()
    return rates
