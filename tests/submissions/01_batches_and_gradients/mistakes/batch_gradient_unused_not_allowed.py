"""Right, until a parameter is unused: then autograd complains. No named mistake, but half the points."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("frozen",)


def batch_gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()))
    return dict(zip(named, gradients, strict=True))
