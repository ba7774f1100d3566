"""Joins every two micro-batches, which takes twice the memory of one."""

import torch

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(y) for _, y in micro_batches)
    for first in range(0, len(micro_batches), 2):
        inputs, targets = zip(*micro_batches[first : first + 2], strict=True)
        x, y = torch.cat(inputs), torch.cat(targets)
        (loss_fn(model(x), y) * (len(y) / samples)).backward()
