"""Computes everything on a copy of the model, so the model's own .grad stays as it was."""

import copy

EXERCISE = "accumulate_gradient"
MISTAKES = ("grad-not-filled",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model = copy.deepcopy(model)
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
