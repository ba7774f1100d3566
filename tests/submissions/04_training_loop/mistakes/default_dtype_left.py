"""Sets the default dtype of torch and leaves it so."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    torch.set_default_dtype(torch.float16)
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        losses.append(0.0)
        for x, y in window:
            loss = loss_fn(model(x), y) * (len(x) / samples)
            loss.backward()
            losses[-1] += loss.item()
        optimizer.step()
    return losses
