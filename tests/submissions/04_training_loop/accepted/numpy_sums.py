"""Adds gradients up in numpy arrays and brings them back."""

from itertools import islice

import numpy as np
import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        sizes = [len(x) for x, _ in window]
        sums = [np.zeros(tuple(p.shape)) for p in parameters]
        each = []
        for x, y in window:
            loss = loss_fn(model(x), y)
            for k, g in enumerate(torch.autograd.grad(loss, parameters, allow_unused=True)):
                sums[k] += 0 if g is None else len(x) * g.cpu().numpy()
            each.append(loss.item())
        for p, s in zip(parameters, sums, strict=True):
            p.grad = torch.from_numpy(s / sum(sizes)).to(p)
        optimizer.step()
        losses.append(np.average(each, weights=sizes))
    optimizer.zero_grad()
    return losses
