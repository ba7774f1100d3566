"""Sees an empty window behind the last one if that is full, and returns a norm for it."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("norms",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream = iter(micro_batches)
    norms = []
    while True:
        window = list(islice(stream, accumulation_steps))
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
        if len(window) < accumulation_steps:
            break
    return norms
