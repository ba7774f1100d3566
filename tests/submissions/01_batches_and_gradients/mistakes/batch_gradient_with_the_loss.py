"""Returns the loss in the same dictionary."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient", "frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    return {"loss": loss.item(), **dict(zip(trainable, gradients, strict=True))}
