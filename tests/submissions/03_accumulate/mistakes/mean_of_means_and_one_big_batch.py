"""Takes the mean of a stack of losses."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("mean-of-means", "one-big-batch")
LOST = ("ragged", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    torch.stack([loss_fn(model(x), y) for x, y in micro_batches]).mean().backward()
