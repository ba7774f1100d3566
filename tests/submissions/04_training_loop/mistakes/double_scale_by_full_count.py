"""Averages over the samples and then divides by accumulation_steps as well, in the leftover window too."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("double-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    losses = []
    while True:
        window = list(islice(stream, accumulation_steps))
        if not window:
            return losses
        samples = sum(x.shape[0] for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * x.shape[0] / samples
            window_loss += loss.item()
            (loss / accumulation_steps).backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(window_loss)
