"""Picks log probabilities with gather and a mask, without cross_entropy."""

import torch

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    losses = []
    for window in cut(micro_batches, accumulation_steps):
        model.zero_grad()
        masks = [targets.ne(ignore_index) for _, targets in window]
        denominator = torch.stack([mask.sum() for mask in masks]).sum().clamp(min=1)
        parts = []
        for (x, targets), mask in zip(window, masks, strict=True):
            chosen = model(x).log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
            part = -(chosen * mask).sum() / denominator
            part.backward()
            parts.append(part.detach())
        optimizer.step()
        losses.append(torch.stack(parts).sum())
    model.zero_grad()
    return losses


def cut(stream, steps):
    window = []
    for pair in stream:
        window.append(pair)
        if len(window) == steps:
            yield window
            window = []
    if window:
        yield window
