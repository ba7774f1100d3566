"""Right rates, but micro-batches weigh alike."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("mean-of-means",)
LOST = ("leftover",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
