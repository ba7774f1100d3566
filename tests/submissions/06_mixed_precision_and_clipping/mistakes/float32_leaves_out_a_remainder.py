"""Takes micro-batches in groups of eight, and leaves out those that make no whole group."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums", "model")
SAYS = ("With 4 micro-batches your tensors are zero.",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    whole = len(micro_batches) // 8 * 8
    for x, y in micro_batches[:whole]:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad.float() * len(x) / samples
    return totals
