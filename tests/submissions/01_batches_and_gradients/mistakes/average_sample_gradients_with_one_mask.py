"""Rewinds the random state before every sample, so that all samples go through the same dropout mask."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("untouched",)


def average_sample_gradients(model, loss_fn, x, y):
    parameters = dict(model.named_parameters())
    state, rows = torch.get_rng_state(), []
    for i in range(len(x)):
        torch.set_rng_state(state)
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        rows.append(torch.autograd.grad(loss, list(parameters.values())))
    return {n: torch.stack(column).mean(0) for n, column in zip(parameters, zip(*rows))}
