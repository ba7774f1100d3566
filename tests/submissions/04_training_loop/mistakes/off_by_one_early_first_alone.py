"""Takes the first micro-batch off the stream to look at it, updates with it, and only then cuts windows."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []

    def train(window):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        parts = []
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            parts.append(loss.item())
        optimizer.step()
        losses.append(sum(parts))

    stream = iter(micro_batches)
    train([next(stream)])
    while window := list(islice(stream, accumulation_steps)):
        train(window)
    optimizer.zero_grad()
    return losses
