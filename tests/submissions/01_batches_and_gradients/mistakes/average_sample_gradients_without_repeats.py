"""Leaves out samples with the same x as an earlier one."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("sample-missing",)
LOST = ("mean",)


def batch_gradient(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True)
    return {n: g for n, g in zip(named, grads) if g is not None}


def average_sample_gradients(model, loss_fn, x, y):
    seen, each = set(), []
    for i in range(len(x)):
        key = tuple(x[i].flatten().tolist())
        if key not in seen:
            seen.add(key)
            each.append(batch_gradient(model, loss_fn, x[i : i + 1], y[i : i + 1]))
    return {n: torch.stack([e[n] for e in each]).mean(0) for n in each[0]}
