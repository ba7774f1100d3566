"""Clears the gradients of the first parameter group only."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("clean",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        for p in optimizer.param_groups[0]["params"]:
            p.grad = None
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    return losses
