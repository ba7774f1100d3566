"""Does by hand what SGD with momentum does, and never uses the optimizer."""

import torch

EXERCISE = "repaired_early_clear"
MISTAKES = ()
LOST = ("repaired",)


buffers = {}


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    group = optimizer.param_groups[0]
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            with torch.no_grad():
                for p in model.parameters():
                    buffers[p] = group["momentum"] * buffers[p] + p.grad if p in buffers else p.grad.clone()
                    p -= group["lr"] * buffers[p]
            optimizer.zero_grad()
