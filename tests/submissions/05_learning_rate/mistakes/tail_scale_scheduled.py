"""Right rates, but a leftover is divided by N and ragged micro-batches weigh alike."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ("mean-of-means", "tail-scale")
LOST = ("leftover",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / accumulation_steps).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
