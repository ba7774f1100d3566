"""Lists a shared weight under both of its names."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    named = list(model.named_parameters(remove_duplicate=False))
    samples = sum(len(x) for x, _ in micro_batches)
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in named}
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in named:
            sums[name] += p.grad.float() * (len(x) / samples)
    return sums
