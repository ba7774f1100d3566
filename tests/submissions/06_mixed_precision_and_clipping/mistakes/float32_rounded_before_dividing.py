"""Stacks the gradients and adds them up in bfloat16, which rounds the sum, and divides in float32."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    names, parameters = zip(*model.named_parameters())
    rows = [torch.autograd.grad(loss_fn(model(x), y) * len(x), parameters) for x, y in micro_batches]
    return {name: torch.stack(several).sum(0).float() / samples for name, several in zip(names, zip(*rows))}
