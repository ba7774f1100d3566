"""Asks for gradients of all parameters, also of frozen ones."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("ragged",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for p in model.parameters():
        p.requires_grad_(True)
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
