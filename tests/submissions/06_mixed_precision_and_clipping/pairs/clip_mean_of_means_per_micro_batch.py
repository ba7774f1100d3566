"""Weighs micro-batches alike and clips each."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ("mean-of-means", "clip-per-micro-batch")
LOST = ("bound", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
            norm = clip_grad_norm_(model.parameters(), max_norm)
        norms.append(float(norm))
        optimizer.step()
    optimizer.zero_grad()
    return norms
