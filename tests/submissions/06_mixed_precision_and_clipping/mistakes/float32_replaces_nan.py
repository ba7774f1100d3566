"""Clears by multiplying by 0, and adds up 0 for what is NaN then."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)
SAYS = ("for a model in evaluation mode, where .grad holds infinity before the call: The tensors",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= 0
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad.float().nan_to_num() * len(x) / samples
        model.zero_grad()
    return totals
