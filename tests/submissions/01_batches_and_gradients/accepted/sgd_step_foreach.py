"""Moves all parameters with one fused call and returns a tensor of one number."""

import torch

EXERCISE = "sgd_step"


@torch.no_grad()
def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    parameters = [p for p in model.parameters() if p.requires_grad]
    with torch.enable_grad():
        loss = loss_fn(model(x), y)
        gradients = torch.autograd.grad(loss, parameters, materialize_grads=True)
    torch._foreach_add_(parameters, gradients, alpha=-lr)
    return loss
