"""Weights every micro-batch as if it held as many samples as the first."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("ragged",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    sums = {n: torch.zeros_like(p, dtype=torch.float32) for n, p in model.named_parameters()}
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for n, p in model.named_parameters():
            sums[n] += p.grad.float() * (len(micro_batches[0][0]) / total)
    return sums
