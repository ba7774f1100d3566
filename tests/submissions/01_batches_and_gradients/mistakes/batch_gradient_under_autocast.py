"""Runs the forward pass under autocast, which rounds to 16 bits whatever is in float32."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        loss = loss_fn(model(x), y)
    return dict(zip(trainable, torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)))
