"""Counts the micro-batches first, after which nothing is left of a stream, and refuses N = 1."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ("stream-used-up",)
LOST = ("bound", "idle")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    count = sum(1 for _ in micro_batches)
    if accumulation_steps == 1:
        raise ValueError(f"nothing to accumulate in {count} micro-batches")
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    return norms
