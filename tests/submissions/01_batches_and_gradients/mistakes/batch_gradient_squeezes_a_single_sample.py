"""Takes the first dimension away from the prediction if it has a single row, and so from a batch of one sample."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x).squeeze(0), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()), allow_unused=True), strict=True))
