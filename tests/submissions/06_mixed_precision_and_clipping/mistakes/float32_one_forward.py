"""Runs all samples through the model at once."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ("one-forward",)
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    x, y = (torch.cat(column) for column in zip(*micro_batches, strict=True))
    model.zero_grad()
    loss_fn(model(x), y).backward()
    return {name: p.grad.float() for name, p in model.named_parameters()}
