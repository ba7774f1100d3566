"""Puts a copy in the place of every parameter, and leaves it there."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("parameters-replaced",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    for module in model.modules():
        for name, p in list(module.named_parameters(recurse=False)):
            copy = torch.nn.Parameter(p.detach().clone(), requires_grad=p.requires_grad)
            copy.grad = p.grad
            setattr(module, name, copy)
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True)
    return dict(zip(named, gradients, strict=True))
