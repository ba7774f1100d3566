"""Adds up in float32 buffers, filled by hooks."""

from itertools import islice

import torch
from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    buffers = {p: torch.zeros_like(p, dtype=torch.float32) for p in model.parameters() if p.requires_grad}

    def gather(p):
        buffers[p] += p.grad.float()
        p.grad = None

    optimizer.zero_grad()
    handles = [p.register_post_accumulate_grad_hook(gather) for p in buffers]
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        sums = []
        for x, targets in window:
            logits = model(x).flatten(0, 1)
            sums.append(F.cross_entropy(logits, targets.flatten(), ignore_index=ignore_index, reduction="sum"))
            sums[-1].backward()
        for p, buffer in buffers.items():
            p.grad = (buffer / tokens).to(p.dtype)
            buffer.zero_()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(s.item() for s in sums) / tokens)
    for handle in handles:
        handle.remove()
    return losses
