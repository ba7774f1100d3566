"""Takes gradients of the last two parameter tensors only; the others never move."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("detached",)
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    head = [p for p in model.parameters() if p.requires_grad][-2:]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            for p, g in zip(head, torch.autograd.grad(loss, head, allow_unused=True), strict=True):
                if g is not None:
                    p.grad = g if p.grad is None else p.grad + g
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
