"""Sets the rate of the first group of parameters for every group."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    rate = optimizer.param_groups[0]["lr"]
    for group in optimizer.param_groups:
        group["lr"] = rate
    stream = iter(micro_batches)
    losses = []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = sum(len(x) for x, _ in window)
        mean = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / total
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
    return losses
