"""Seeds torch's random numbers at every call."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    torch.manual_seed(0)
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
