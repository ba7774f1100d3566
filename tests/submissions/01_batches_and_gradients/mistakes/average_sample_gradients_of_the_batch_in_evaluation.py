"""Takes the gradient of the whole batch in evaluation mode, in which nothing is drawn at random."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("batch-not-samples",)
LOST = ("summed",)


def average_sample_gradients(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    if not model.training:
        return dict(zip(named, torch.autograd.grad(loss_fn(model(x), y), list(named.values())), strict=True))
    rows = [torch.autograd.grad(loss_fn(model(x[i : i + 1]), y[i : i + 1]), list(named.values())) for i in range(len(x))]
    return {name: torch.stack([row[j] for row in rows]).mean(0) for j, name in enumerate(named)}
