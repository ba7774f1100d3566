"""Counts the samples of earlier calls as well, so a second call divides by too many."""

import weakref

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "clean")

SAMPLES = weakref.WeakKeyDictionary()


def accumulate_gradient(model, loss_fn, micro_batches):
    SAMPLES[model] = SAMPLES.get(model, 0) + sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / SAMPLES[model]).backward()
