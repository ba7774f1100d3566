"""One forward pass; the mean of the sample losses is differentiated at once."""

import torch

EXERCISE = "average_sample_gradients"


def average_sample_gradients(model, loss_fn, x, y):
    prediction = model(x)
    losses = [loss_fn(prediction[i : i + 1], y[i : i + 1]) for i in range(len(x))]
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(torch.stack(losses).mean(), list(named.values()), allow_unused=True)
    return {name: g for name, g in zip(named, gradients, strict=True) if g is not None}
