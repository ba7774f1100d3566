"""Fills .grad where there is a gradient and leaves that of unused parameters as it was."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("clean",)
SAYS = ("is neither None nor zero after the call. It held something before the call, too.",)


def accumulate_gradient(model, loss_fn, micro_batches):
    parameters = [p for p in model.parameters() if p.requires_grad]
    samples = sum(len(x) for x, _ in micro_batches)
    sums = [None] * len(parameters)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        for k, gradient in enumerate(torch.autograd.grad(loss, parameters, allow_unused=True)):
            if gradient is not None:
                sums[k] = gradient if sums[k] is None else sums[k] + gradient
    for p, total in zip(parameters, sums, strict=True):
        if total is not None:
            p.grad = total
