"""Puts three micro-batches together at a time, which needs far less than nine times the memory."""

import torch

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(y) for _, y in micro_batches)
    waiting = list(micro_batches)
    while waiting:
        group, waiting = waiting[:3], waiting[3:]
        x, y = torch.cat([x for x, _ in group]), torch.cat([y for _, y in group])
        (loss_fn(model(x), y) * (len(y) / samples)).backward()
