"""Takes gradients with torch.autograd.grad, keeps the weighted sum in buffers of its own and hands it over in .grad."""

from itertools import islice

import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        buffers = [torch.zeros_like(p) for p in parameters]
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
            for buffer, gradient in zip(buffers, gradients, strict=True):
                if gradient is not None:
                    buffer.add_(gradient, alpha=len(x) / samples)
            total += loss.item() * len(x)
        for p, buffer in zip(parameters, buffers, strict=True):
            p.grad = buffer
        optimizer.step()
        losses.append(total / samples)
    optimizer.zero_grad()
    return losses
