"""Clips with PyTorch's function, once per window.

Computes the norm and shortens `.grad` itself: clipping is one multiplication.
"""

import math
from itertools import islice


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    parameters = [p for p in model.parameters() if p.requires_grad]
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norm = math.sqrt(sum(float(p.grad.square().sum()) for p in parameters))
        for p in parameters:
            p.grad *= min(1.0, max_norm / norm)
        norms.append(norm)
        optimizer.step()
    optimizer.zero_grad()
    return norms
