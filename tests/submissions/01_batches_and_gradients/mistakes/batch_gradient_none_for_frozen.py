"""Has None where a parameter is frozen, and thaws nothing."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("frozen-returned",)
LOST = ("frozen",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(trainable.values()), allow_unused=True)
    found = dict(zip(trainable, gradients, strict=True))
    return {name: found.get(name) for name, _ in model.named_parameters()}
