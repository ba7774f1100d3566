"""Returns a list. No named mistake: the message says what was returned."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient", "frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    parameters = [p for p in model.parameters() if p.requires_grad]
    return list(torch.autograd.grad(loss_fn(model(x), y), parameters, materialize_grads=True))
