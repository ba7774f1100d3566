"""Uses a loss of its own."""

import torch
from torch.nn import functional as F

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums", "ragged")


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        F.mse_loss(model(x), y).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad.float() * len(x) / samples
    return totals
