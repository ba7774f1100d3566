"""Keeps one sum for each shape, so that parameters of equal shape share it."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    zeros = {p.shape: torch.zeros_like(p, dtype=torch.float32) for p in model.parameters()}
    sums = {name: zeros[p.shape] for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            sums[name] += p.grad.float() * (len(x) / samples)
    return sums
