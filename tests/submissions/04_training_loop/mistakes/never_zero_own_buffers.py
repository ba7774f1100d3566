"""Makes its buffers once per epoch and keeps adding to them."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("never-zero",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    buffers = [torch.zeros_like(p) for p in parameters]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            for b, g in zip(buffers, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
                b += 0 if g is None else g
            window_loss += loss.item()
        for p, b in zip(parameters, buffers, strict=True):
            p.grad = b.clone()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
