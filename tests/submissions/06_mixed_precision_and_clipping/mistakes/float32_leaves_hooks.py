"""Right, but its hooks stay on the model."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    weight = 0.0

    def carry(name):
        def hook(p):
            totals[name].add_(p.grad.float(), alpha=weight)
            p.grad = None

        return hook

    model.zero_grad()
    for name, p in model.named_parameters():
        p.register_post_accumulate_grad_hook(carry(name))
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        weight = len(x) / samples
        loss_fn(model(x), y).backward()
    return totals
