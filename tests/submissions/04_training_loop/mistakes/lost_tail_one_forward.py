"""Each window, the leftover too, goes through the model as one large batch."""

from itertools import islice

import torch

EXERCISE = "repaired_lost_tail"
MISTAKES = ("one-big-batch",)
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        x, y = map(torch.cat, zip(*window))
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
