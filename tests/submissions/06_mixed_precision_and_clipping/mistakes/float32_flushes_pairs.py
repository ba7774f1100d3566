"""Adds two micro-batches up in .grad, in bfloat16, before it adds them to the float32 sums."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    model.zero_grad()
    for k, (x, y) in enumerate(micro_batches, 1):
        (loss_fn(model(x), y) * (len(x) / samples)).backward()
        if k % 2 == 0 or k == len(micro_batches):
            for name, p in model.named_parameters():
                sums[name] += p.grad.float()
            model.zero_grad()
    return sums
