"""Lets autograd track the inputs and leaves them so."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    names = [name for name, p in model.named_parameters() if p.requires_grad]
    own = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x.requires_grad_()), y)
    return dict(zip(names, torch.autograd.grad(loss, own, allow_unused=True, materialize_grads=True), strict=True))
