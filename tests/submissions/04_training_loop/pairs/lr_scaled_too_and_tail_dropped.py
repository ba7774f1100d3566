"""Averages the gradient, lowers the rate as well, and drops the leftover."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("lr-scaled-too", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    given = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] /= accumulation_steps
    losses = []
    stream = iter(micro_batches)
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    for group, lr in zip(optimizer.param_groups, given, strict=True):
        group["lr"] = lr
    return losses
