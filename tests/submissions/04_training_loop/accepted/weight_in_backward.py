"""Passes the weight as the gradient that backward starts from."""

from itertools import islice

import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            share = torch.full_like(loss, len(x) / samples)
            loss.backward(gradient=share)
            window_loss += (loss.detach() * share).item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(window_loss)
    return losses
