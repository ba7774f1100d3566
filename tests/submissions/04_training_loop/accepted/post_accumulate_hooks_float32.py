"""Moves each gradient into a float32 buffer as soon as it is there and frees .grad at once."""

from itertools import islice

import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    buffers = {p: torch.zeros(p.shape, dtype=torch.float32, device=p.device) for p in parameters}

    def move(p):
        buffers[p] += p.grad.float()
        p.grad = None

    for p in parameters:
        p.grad = None
    handles = [p.register_post_accumulate_grad_hook(move) for p in parameters]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        for p in parameters:
            p.grad = buffers[p].to(p.dtype)
        optimizer.step()
        for p in parameters:
            p.grad = None
            buffers[p].zero_()
        losses.append(window_loss)
    for handle in handles:
        handle.remove()
    return losses
