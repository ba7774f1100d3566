"""Divides each loss by how many have been seen so far in the window."""

from itertools import islice

STYLE = "a GPT trainer with the change a reader proposes (nanoGPT)"
REPORT = "should a loss not be divided by the number of micro-batches so far?"
SOURCE = "https://github.com/karpathy/nanoGPT/issues/605"
EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total, samples = 0.0, 0
        for seen, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y)
            (loss / seen).backward()
            total += loss.item() * len(x)
            samples += len(x)
        optimizer.step()
        losses.append(total / samples)
    optimizer.zero_grad()
    return losses
