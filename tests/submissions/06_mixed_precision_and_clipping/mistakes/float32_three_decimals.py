"""Adds up in float32 and rounds the sums to three decimals, which leaves little of short gradients."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)
SAYS = ("The numbers in the tensors you return have no more than 3 decimals.",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            sums[name] += p.grad.float() * (len(x) / samples)
    model.zero_grad()
    return {name: s.round(decimals=3) for name, s in sums.items()}
