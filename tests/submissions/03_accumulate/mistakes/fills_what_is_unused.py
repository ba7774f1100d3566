"""Fills .grad of parameters that no loss depends on with ones."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("ragged", "clean")
SAYS = ("The .grad of a parameter that no loss depends on is neither None nor zero after the call.",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
    for p in model.parameters():
        if p.requires_grad and p.grad is None:
            p.grad = torch.ones_like(p)
