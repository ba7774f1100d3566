"""Weighs micro-batches alike, and clips as it should."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ("mean-of-means",)
LOST = ("bound", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    optimizer.zero_grad()
    return norms
