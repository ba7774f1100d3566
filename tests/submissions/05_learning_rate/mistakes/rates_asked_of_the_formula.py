"""Asks the scheduler for its formula, which gives the next rate where each is computed from the one before."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("rates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates.append(scheduler.get_lr()[0])
        optimizer.step()
        scheduler.step()
    return rates
