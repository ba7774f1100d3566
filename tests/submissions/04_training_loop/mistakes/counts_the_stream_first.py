"""Walks through the micro-batches once to learn their sizes, after which nothing is left of a stream."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("stream-used-up",)
LOST = ("stream",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    sizes = [len(x) for x, _ in micro_batches]
    stream = iter(micro_batches)
    losses = []
    for first in range(0, len(sizes), accumulation_steps):
        window = list(islice(stream, accumulation_steps))
        if not window:
            break
        optimizer.zero_grad()
        samples = sum(sizes[first : first + accumulation_steps])
        mean = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * (len(x) / samples)
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
    return losses
