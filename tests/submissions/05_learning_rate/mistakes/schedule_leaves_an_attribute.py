"""Notes the rates in an attribute of the scheduler, and leaves it there."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    scheduler.rates = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        scheduler.rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    optimizer.zero_grad()
    return list(scheduler.rates)
