"""Lets a hook on the optimizer move the schedule on, and leaves it there."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    if not hasattr(optimizer, "moves_on"):
        optimizer.moves_on = optimizer.register_step_post_hook(lambda *_: scheduler.step())
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates
