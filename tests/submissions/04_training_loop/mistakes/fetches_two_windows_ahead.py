"""Has the next two windows ready when it makes an update, which is one more than allowed."""

from collections import deque
from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("stream",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    windows = deque(list(islice(stream, accumulation_steps)) for _ in range(3))
    losses = []
    while window := windows.popleft():
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        mean = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * (len(x) / samples)
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
        windows.append(list(islice(stream, accumulation_steps)))
    return losses
