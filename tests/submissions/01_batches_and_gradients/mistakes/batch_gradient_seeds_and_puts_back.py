"""Seeds the forward pass and puts the random state back, so that dropout has the same mask at every call."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        loss = loss_fn(model(x), y)
    return dict(zip(trainable, torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)))
