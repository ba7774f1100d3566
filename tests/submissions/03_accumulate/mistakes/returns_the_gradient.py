"""Returns a dictionary of gradients and leaves .grad alone."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("grad-not-filled",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    names = [name for name, p in model.named_parameters() if p.requires_grad]
    parameters = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    sums = dict.fromkeys(names, 0)
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y) * len(x) / samples, parameters, allow_unused=True)
        for name, g in zip(names, gradients, strict=True):
            sums[name] = sums[name] + (0 if g is None else g)
    return sums
