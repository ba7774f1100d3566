"""Takes the micro-batches out of the list it was given."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    while micro_batches:
        x, y = micro_batches.pop(0)
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            sums[name] += p.grad.float() * (len(x) / total)
    return sums
