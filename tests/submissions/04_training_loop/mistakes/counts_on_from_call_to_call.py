"""Counts micro-batches on from call to call, so that windows reach from one epoch into the next."""

from itertools import count

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")

counter = count(1)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        losses.append(loss.item())
        if next(counter) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    return losses
