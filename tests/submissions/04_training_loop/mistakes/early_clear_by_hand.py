"""Subtracts the scaled gradient itself, which knows no momentum."""

import torch

EXERCISE = "repaired_early_clear"
MISTAKES = ()
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            with torch.no_grad():
                for p in model.parameters():
                    p -= optimizer.param_groups[0]["lr"] * p.grad
            optimizer.zero_grad()
