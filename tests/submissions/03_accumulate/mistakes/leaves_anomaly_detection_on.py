"""Switches autograd's anomaly detection on for debugging and leaves it on for the whole program."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal",)


def accumulate_gradient(model, loss_fn, micro_batches):
    torch.autograd.set_detect_anomaly(True)
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
