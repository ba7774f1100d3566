"""Counts, and puts update and clear under one condition.

Keeps the gradients of a window in a list of its own; with `torch.autograd.grad` there is
nothing to clear. The price: N gradients are held, not one.
"""

import torch


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
