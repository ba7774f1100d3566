"""Measures a batch of one sample in evaluation mode, as if it were safer."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("eval-mode",)
LOST = ("gradient",)
SAYS = ("For a batch of one sample: It is the gradient of a model in",)


def batch_gradient(model, loss_fn, x, y):
    modes = {layer: layer.training for layer in model.modules()}
    if len(x) == 1:
        model.eval()
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), tuple(trainable.values()), allow_unused=True)
    for layer, mode in modes.items():
        layer.training = mode
    return dict(zip(trainable, gradients, strict=True))
