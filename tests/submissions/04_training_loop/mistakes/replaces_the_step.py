"""Counts the updates by a step() of its own, and leaves it in the optimizer's place."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    updates, losses = [], []
    step = optimizer.step

    def counting_step(closure=None):
        updates.append(1)
        return step(closure)

    optimizer.step = counting_step
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
