"""Adds torch.autograd.grad into buffers and updates with their mean."""

import torch

EXERCISE = "repaired_eager_step"


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = list(model.parameters())
    waiting = []
    for x, y in micro_batches:
        waiting.append(torch.autograd.grad(loss_fn(model(x), y), parameters))
        if len(waiting) == accumulation_steps:
            for p, gradients in zip(parameters, zip(*waiting, strict=True), strict=True):
                p.grad = sum(gradients) / len(gradients)
            optimizer.step()
            waiting.clear()
