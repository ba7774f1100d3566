"""Recomputes activations with the reentrant version of torch.utils.checkpoint."""

import torch
from torch.utils.checkpoint import checkpoint

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        ticket = torch.ones(1, requires_grad=True)
        loss = checkpoint(lambda x, y, _: loss_fn(model(x), y), x, y, ticket, use_reentrant=True)
        (loss * len(x) / samples).backward()
