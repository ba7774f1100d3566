"""Accumulates all gradients in one flat vector and cuts it up again."""

from itertools import islice

import torch
from torch.nn.utils import parameters_to_vector

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    sizes = [p.numel() for p in parameters]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        flat = torch.zeros_like(parameters_to_vector(parameters))
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
            flat += parameters_to_vector(gradients)
            window_loss += loss.item()
        for p, piece in zip(parameters, flat.split(sizes), strict=True):
            p.grad = piece.view_as(p)
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
