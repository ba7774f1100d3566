"""Clears only at its first call for a model, so a second call adds to the first."""

import weakref

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("clean",)


CLEARED = weakref.WeakSet()


def accumulate_gradient(model, loss_fn, micro_batches):
    if model not in CLEARED:
        model.zero_grad()
        CLEARED.add(model)
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
