"""Leaves the model in evaluation mode, and calls step once more without gradients, which changes no update and no rate."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    model.train()
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    optimizer.zero_grad()
    optimizer.step()
    model.eval()
    return rates
