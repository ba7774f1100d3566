"""Switches dropout off and takes the gradient of the whole batch."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("eval-mode", "batch-not-samples")
LOST = ("mean", "summed")


def average_sample_gradients(model, loss_fn, x, y):
    modes = [layer.training for layer in model.modules()]
    model.eval()
    named = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()))
    for layer, mode in zip(model.modules(), modes, strict=True):
        layer.training = mode
    return dict(zip(named, gradients, strict=True))
