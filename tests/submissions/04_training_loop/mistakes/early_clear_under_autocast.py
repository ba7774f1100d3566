"""Forwards under autocast to bfloat16."""

import torch

EXERCISE = "repaired_early_clear"
MISTAKES = ()
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
