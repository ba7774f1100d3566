"""Asks for one parameter's gradient after the other, keeping the graph."""

import torch

EXERCISE = "batch_gradient"


def batch_gradient(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    result = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        (g,) = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
        result[name] = torch.zeros_like(p) if g is None else g
    return result
