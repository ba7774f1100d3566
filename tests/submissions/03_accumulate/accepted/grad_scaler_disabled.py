"""Goes through a GradScaler that is switched off."""

import torch

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        scaler.scale(loss_fn(model(x), y) * len(x) / samples).backward()
