"""Divides the loss by the number of samples in evaluation mode."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("samples-divided-twice",)
LOST = ("gradient",)
SAYS = ("For a model in evaluation mode: Due is 1/",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    if not model.training:
        loss = loss / len(x)
    return dict(zip(trainable, torch.autograd.grad(loss, list(trainable.values()), allow_unused=True), strict=True))
