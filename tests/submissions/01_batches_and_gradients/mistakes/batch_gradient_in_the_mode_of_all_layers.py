"""Takes the gradient in training mode only if all layers are in it, and puts their modes back."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("eval-mode",)
LOST = ("untouched",)
SAYS = ("For a model with a layer in the other mode: It is the gradient of a model in",)


def batch_gradient(model, loss_fn, x, y):
    modes = [layer.training for layer in model.modules()]
    model.train(all(modes))
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(trainable.values()), allow_unused=True)
    for layer, mode in zip(model.modules(), modes, strict=True):
        layer.training = mode
    return dict(zip(trainable, gradients, strict=True))
