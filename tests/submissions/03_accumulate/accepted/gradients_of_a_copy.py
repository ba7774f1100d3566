"""Differentiates a deep copy of the model and carries the gradients over."""

import copy

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    twin = copy.deepcopy(model)
    twin.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(twin(x), y) * len(x) / samples).backward()
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        p.grad = q.grad
