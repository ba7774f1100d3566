"""Passes the weight as the gradient that backward starts from."""

import torch

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    batches = list(micro_batches)
    total = sum(y.shape[0] for _, y in batches)
    model.zero_grad(set_to_none=False)
    for x, y in batches:
        loss = loss_fn(model(x), y)
        loss.backward(torch.full_like(loss, y.shape[0] / total))
