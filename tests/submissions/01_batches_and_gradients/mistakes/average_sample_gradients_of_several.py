"""Takes what the second sample adds for granted, so a batch of one has no average."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    parameters = dict(model.named_parameters())

    def gradients(i):
        return torch.autograd.grad(loss_fn(model(x[i : i + 1]), y[i : i + 1]), list(parameters.values()))

    first, second, *rest = (gradients(i) for i in range(len(x)))
    each = zip(first, second, *rest, strict=True)
    return {name: torch.stack(of_one).mean(0) for name, of_one in zip(parameters, each, strict=True)}
