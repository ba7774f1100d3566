"""Assigns each micro-batch's gradient to p.grad where it should be added."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("zero-every",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            for p, g in zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
                p.grad = g
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
