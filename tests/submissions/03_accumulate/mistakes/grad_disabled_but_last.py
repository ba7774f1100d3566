"""Only the last micro-batch runs with gradients."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("grad-disabled",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    total = 0
    for k, (x, y) in enumerate(micro_batches, 1):
        with torch.set_grad_enabled(k == len(micro_batches)):
            total = total + loss_fn(model(x), y) * len(x) / samples
    total.backward()
