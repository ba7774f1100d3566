"""Clips the gradient, which nobody asked for."""

from torch import nn

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")
SAYS = ("No gradient is longer than 0.1: longer ones",)


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
