"""Scales gradients in the backward of an autograd function of its own that passes the loss through."""

from itertools import islice

import torch

EXERCISE = "train_epoch"


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, factor):
        ctx.factor = factor
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = ScaleGradient.apply(loss_fn(model(x), y), len(x) / samples)
            loss.backward()
            total += loss.item() * len(x)
        optimizer.step()
        losses.append(total / samples)
    optimizer.zero_grad()
    return losses
