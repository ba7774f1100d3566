"""Sets the whole model to the mode that it is in itself, "to be safe"."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    model.train(model.training)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            sums[name] += p.grad.float() * (len(x) / total)
    return sums
