"""Updates the parameters as well, with a rate of its own."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= 0.1 * p.grad
