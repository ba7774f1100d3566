"""Switches to evaluation mode to measure, and back to training mode whatever it was before."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("eval-mode", "mode-changed")
LOST = ("gradient", "untouched")


def batch_gradient(model, loss_fn, x, y):
    model.eval()
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True)
    model.train()
    return {name: g for name, g in zip(named, gradients, strict=True) if g is not None}
