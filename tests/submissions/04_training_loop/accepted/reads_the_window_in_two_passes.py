"""Computes each window's per-sample weights as a tensor and dots them with the losses of its micro-batches."""

from collections import deque

import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, waiting = [], deque()

    def drain():
        optimizer.zero_grad()
        sizes = torch.tensor([len(x) for x, _ in waiting], dtype=torch.float64)
        weights = (sizes / sizes.sum()).tolist()
        values = []
        while waiting:
            x, y = waiting.popleft()
            loss = loss_fn(model(x), y)
            torch.autograd.backward([loss], grad_tensors=[torch.full_like(loss, weights[len(values)])])
            values.append(loss.item())
        optimizer.step()
        losses.append(sum(w * v for w, v in zip(weights, values, strict=True)))

    for batch in micro_batches:
        waiting.append(batch)
        if len(waiting) == accumulation_steps:
            drain()
    if waiting:
        drain()
    return losses
