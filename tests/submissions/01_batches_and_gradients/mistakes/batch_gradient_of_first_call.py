"""Keeps what it returned for a model and returns it again."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


KEPT = {}


def batch_gradient(model, loss_fn, x, y):
    if model not in KEPT:
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        gradients = torch.autograd.grad(loss_fn(model(x), y), [p for _, p in named], allow_unused=True, materialize_grads=True)
        KEPT[model] = {name: gradient for (name, _), gradient in zip(named, gradients, strict=True)}
    return KEPT[model]
