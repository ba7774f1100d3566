"""Keeps sums of its own by torch.autograd.grad."""

from itertools import islice

import torch
from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    parameters = [p for p in model.parameters() if p.requires_grad]
    while window := list(islice(stream, accumulation_steps)):
        sums, total, tokens = [torch.zeros_like(p) for p in parameters], 0.0, 0
        for x, targets in window:
            logits = model(x)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            for buffer, g in zip(sums, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
                if g is not None:
                    buffer += g
            total, tokens = total + loss.item(), tokens + (targets != ignore_index).sum().item()
        for p, buffer in zip(parameters, sums, strict=True):
            p.grad = buffer / tokens if tokens else None
        optimizer.step()
        losses.append(total / tokens if tokens else 0.0)
        optimizer.zero_grad()
    return losses
