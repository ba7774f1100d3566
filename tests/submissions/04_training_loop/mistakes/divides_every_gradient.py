"""Divides the gradients of all parameters before the update, also of those that have none."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("ragged",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x)
            loss.backward()
            window_loss += loss.item() / samples
        for p in model.parameters():
            p.grad /= samples
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
