"""Writes .grad of the parameters it has gradients of; what an unused one held is applied again and again."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("clean",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream, losses = iter(micro_batches), []
    trained = [p for p in model.parameters() if p.requires_grad]
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        sums, mean = {}, 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * (len(x) / samples)
            for p, gradient in zip(trained, torch.autograd.grad(loss, trained, allow_unused=True), strict=True):
                if gradient is not None:
                    sums[p] = sums.get(p, 0) + gradient
            mean += loss.item()
        for p, total in sums.items():
            p.grad = total
        optimizer.step()
        losses.append(mean)
    return losses
