"""Takes gradients without touching .grad."""

import torch

EXERCISE = "accumulate_in_float32"


def accumulate_in_float32(model, loss_fn, micro_batches):
    names, parameters = zip(*model.named_parameters(), strict=True)
    totals = [torch.zeros(p.shape, dtype=torch.float32, device=p.device) for p in parameters]
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), parameters)
        totals = [t + g.float() * (len(x) / samples) for t, g in zip(totals, gradients, strict=True)]
    return dict(zip(names, totals, strict=True))
