"""Averages the gradient and divides the learning rate by what the window holds, update by update."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("lr-scaled-too",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    base = [group["lr"] for group in optimizer.param_groups]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        for group, lr in zip(optimizer.param_groups, base, strict=True):
            group["lr"] = lr / len(window)
        optimizer.step()
        for group, lr in zip(optimizer.param_groups, base, strict=True):
            group["lr"] = lr
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
