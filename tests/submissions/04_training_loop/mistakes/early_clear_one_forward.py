"""A window goes through the model as one large batch."""

import torch

EXERCISE = "repaired_early_clear"
MISTAKES = ("one-big-batch",)
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for start in range(0, len(micro_batches), accumulation_steps):
        x, y = map(torch.cat, zip(*micro_batches[start : start + accumulation_steps]))
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    optimizer.zero_grad()
