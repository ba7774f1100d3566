"""Takes every window to be full: divides by N times its mean micro-batch size."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("tail-scale",)
LOST = ("leftover",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        mean_size = sum(len(x) for x, _ in window) / len(window)
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x)
            (loss / (accumulation_steps * mean_size)).backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / (len(window) * mean_size))
    return losses
