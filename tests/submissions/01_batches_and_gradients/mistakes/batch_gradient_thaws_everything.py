"""Makes every parameter trainable, so that nothing stands in its way."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("frozen-returned", "frozen-thawed")
LOST = ("frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    model.requires_grad_(True)
    names, parameters = zip(*model.named_parameters(), strict=True)
    gradients = torch.autograd.grad(loss_fn(model(x), y), parameters, materialize_grads=True)
    return dict(zip(names, gradients, strict=True))
