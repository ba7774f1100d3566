"""Weighs all micro-batches alike."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad.float() / len(micro_batches)
    return totals
