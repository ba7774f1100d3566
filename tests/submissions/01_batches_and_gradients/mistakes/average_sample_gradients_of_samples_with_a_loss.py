"""Leaves out samples whose loss is zero, and divides by the number of the others."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    names, parameters = zip(*model.named_parameters())
    rows = []
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        if loss > 0:
            rows.append(torch.autograd.grad(loss, parameters))
    return {name: torch.stack(each).mean(0) for name, each in zip(names, zip(*rows))}
