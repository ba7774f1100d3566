"""Gives each layer a copy of its weight, so that of a weight which two layers share only one use is seen."""

import torch
from torch.func import functional_call

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    copies = {
        name: p.detach().clone().requires_grad_()
        for name, p in model.named_parameters(remove_duplicate=False)
        if p.requires_grad
    }
    loss = loss_fn(functional_call(model, copies, (x,), tie_weights=False), y)
    gradients = dict(zip(copies, torch.autograd.grad(loss, list(copies.values()), allow_unused=True), strict=True))
    return {name: gradients[name] for name, p in model.named_parameters() if p.requires_grad}
