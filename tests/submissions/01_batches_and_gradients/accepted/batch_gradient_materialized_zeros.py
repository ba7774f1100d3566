"""Lets autograd fill in zeros for unused parameters."""

import torch

EXERCISE = "batch_gradient"


def batch_gradient(model, loss_fn, x, y):
    names, parameters = zip(*((n, p) for n, p in model.named_parameters() if p.requires_grad), strict=True)
    loss = loss_fn(model(x), y)
    return dict(zip(names, torch.autograd.grad(loss, parameters, materialize_grads=True), strict=True))
