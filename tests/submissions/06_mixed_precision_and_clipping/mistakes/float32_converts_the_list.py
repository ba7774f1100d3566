"""Replaces the pairs in the given list by others in float32."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    for k, (x, y) in enumerate(list(micro_batches)):
        micro_batches[k] = x.float(), y.float()
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            sums[name] += p.grad.float() * (len(x) / samples)
    return sums
