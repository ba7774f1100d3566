"""Copies each micro-batch's gradient into float32 after its backward.

Hooks carry each gradient over as soon as it exists and drop it, so low-precision gradients never pile up.
"""

import torch


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    weight = 0.0

    def carry(name):
        def hook(p):
            totals[name].add_(p.grad.float(), alpha=weight)
            p.grad = None

        return hook

    model.zero_grad()
    handles = [p.register_post_accumulate_grad_hook(carry(name)) for name, p in model.named_parameters()]
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        weight = len(x) / samples
        loss_fn(model(x), y).backward()
    for handle in handles:
        handle.remove()
    return totals
