"""Puts new parameters into the model and leaves its own ones where they were."""

from torch import nn

EXERCISE = "sgd_step"
MISTAKES = ("parameters-unmoved",)
LOST = ("update", "frozen", "clean")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    for layer in model.modules():
        for name, own in list(layer.named_parameters(recurse=False)):
            if own.grad is not None:
                layer.register_parameter(name, nn.Parameter(own.detach() - lr * own.grad))
    model.zero_grad()
    return loss.item()
