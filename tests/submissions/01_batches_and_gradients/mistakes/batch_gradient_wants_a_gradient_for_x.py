"""Asks for the gradient of the inputs as well and leaves them in the graph."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    names, parameters = zip(*[(n, p) for n, p in model.named_parameters() if p.requires_grad], strict=True)
    loss = loss_fn(model(x.requires_grad_()), y)
    *gradients, _ = torch.autograd.grad(loss, [*parameters, x], allow_unused=True)
    return dict(zip(names, gradients, strict=True))
