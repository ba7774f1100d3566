"""Seeds torch's random numbers, so that a second call draws the same ones again."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    torch.manual_seed(0)
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(trainable.values()), allow_unused=True)
    return dict(zip(trainable, grads))
