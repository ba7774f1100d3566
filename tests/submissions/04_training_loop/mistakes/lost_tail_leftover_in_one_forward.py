"""Micro-batches of full windows go through the model one by one, those of a leftover together."""

from itertools import islice

import torch

EXERCISE = "repaired_lost_tail"
MISTAKES = ("one-big-batch",)
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        if len(window) < accumulation_steps:
            window = [tuple(map(torch.cat, zip(*window)))]
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        optimizer.step()
