"""Returns one of its tensors in float64."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("model",)
SAYS = ("Your tensor for head.bias is not float32.",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad.float() * len(x) / samples
    last = list(totals)[-1]
    return totals | {last: totals[last].double()}
