"""Trains in evaluation mode."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("eval-mode",)
LOST = ("updates", "leftover")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    model.eval()
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    model.train()
    return rates
