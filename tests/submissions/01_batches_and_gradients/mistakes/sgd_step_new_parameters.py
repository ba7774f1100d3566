"""Puts a new parameter in the place of each old one, with the right values."""

import torch
from torch import nn

EXERCISE = "sgd_step"
MISTAKES = ("parameters-replaced",)
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    loss = loss_fn(model(x), y)
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss, list(named.values()), materialize_grads=True)
    for (name, p), g in zip(named.items(), gradients, strict=True):
        path, _, last = name.rpartition(".")
        setattr(model.get_submodule(path), last, nn.Parameter(p.detach() - lr * g))
    return loss.item()
