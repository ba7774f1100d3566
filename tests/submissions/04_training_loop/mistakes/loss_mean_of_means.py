"""Reports the plain mean of the window's losses, whatever their sizes."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("loss-mean-of-means",)
LOST = ("losses",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        seen = []
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss * len(x) / samples).backward()
            seen.append(loss.item())
        optimizer.step()
        losses.append(sum(seen) / len(seen))
    optimizer.zero_grad()
    return losses
