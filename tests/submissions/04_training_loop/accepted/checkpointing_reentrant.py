"""Recomputes activations in backward with the reentrant version, which wants an input that requires a gradient."""

from itertools import islice

import torch
from torch.utils.checkpoint import checkpoint

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    ticket = torch.zeros((), requires_grad=True)

    def forward(x, _):
        return model(x)

    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            prediction = checkpoint(forward, x, ticket, use_reentrant=True)
            loss = loss_fn(prediction, y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
