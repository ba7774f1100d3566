"""Goes through the layers of the model, and so forgets a parameter that belongs to none of them."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {
        f"{layer}.{name}": p
        for layer, child in model.named_children()
        for name, p in child.named_parameters()
        if p.requires_grad
    }
    loss = loss_fn(model(x), y)
    return dict(zip(trainable, torch.autograd.grad(loss, list(trainable.values()), allow_unused=True), strict=True))
