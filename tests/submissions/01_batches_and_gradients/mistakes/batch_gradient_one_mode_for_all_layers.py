"""Sets the whole model back with model.train(model.training), which overwrites the mode of submodules that differ from it."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("mode-changed",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    was_training = model.training
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(trainable.values()), allow_unused=True)
    model.train(was_training)
    return dict(zip(trainable, grads))
