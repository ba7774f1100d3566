"""Collects the gradients of all micro-batches and takes their plain mean."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def accumulate_gradient(model, loss_fn, micro_batches):
    parameters = [p for p in model.parameters() if p.requires_grad]
    rows = [
        torch.autograd.grad(loss_fn(model(x), y), parameters, allow_unused=True, materialize_grads=True)
        for x, y in micro_batches
    ]
    for p, gradients in zip(parameters, zip(*rows, strict=True), strict=True):
        p.grad = torch.stack(gradients).mean(0)
