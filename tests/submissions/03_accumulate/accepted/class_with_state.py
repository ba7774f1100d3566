"""Keeps sums in an object and writes .grad when it is closed."""

import torch

EXERCISE = "accumulate_gradient"


class Sums:
    def __init__(self, model):
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.values = [torch.zeros_like(p) for p in self.parameters]
        self.samples = 0

    def __enter__(self):
        return self

    def add(self, loss, size):
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        for value, gradient in zip(self.values, gradients, strict=True):
            if gradient is not None:
                value.add_(gradient, alpha=size)
        self.samples += size

    def __exit__(self, *_):
        for p, value in zip(self.parameters, self.values, strict=True):
            p.grad = value / self.samples


def accumulate_gradient(model, loss_fn, micro_batches):
    with Sums(model) as sums:
        for x, y in micro_batches:
            sums.add(loss_fn(model(x), y), len(x))
