"""Wraps the model and feeds it copies of the micro-batches."""

from itertools import islice

from torch import nn

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    wrapped = nn.Sequential(nn.Identity(), model)
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        wrapped.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(wrapped(x.clone()), y.clone()) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    wrapped.zero_grad()
    return losses
