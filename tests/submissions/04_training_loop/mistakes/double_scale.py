"""Weighs each loss by its share of the window and divides the gradient once more before the update."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("double-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    losses = []
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * (len(x) / samples)
            loss.backward()
            window_loss += loss.item()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= len(window)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(window_loss)
    return losses
