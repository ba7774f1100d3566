"""Squeezes the prediction: with a single output, each prediction is compared with all targets."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("targets-not-cut",)
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x).squeeze(-1), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
