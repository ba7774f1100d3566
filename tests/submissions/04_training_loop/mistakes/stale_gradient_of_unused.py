"""Hands over a gradient where there is one, and leaves .grad of unused parameters as it was."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("clean",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        sums = [0.0] * len(parameters)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            for k, gradient in enumerate(torch.autograd.grad(loss, parameters, allow_unused=True)):
                if gradient is not None:
                    sums[k] = sums[k] + gradient
            window_loss += loss.item()
        for p, total in zip(parameters, sums, strict=True):
            if isinstance(total, torch.Tensor):
                p.grad = total
        optimizer.step()
        losses.append(window_loss)
    return losses
