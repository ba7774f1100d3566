"""Takes the gradient of the whole batch; right only as long as the loss averages."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("batch-not-samples",)
LOST = ("summed",)


def gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), materialize_grads=True)
    return dict(zip(named, gradients, strict=True))


def average_sample_gradients(model, loss_fn, x, y):
    return gradient(model, loss_fn, x, y)
