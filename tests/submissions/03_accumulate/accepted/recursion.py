"""Treats the first micro-batch and calls itself for the others."""

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches, samples=None):
    if samples is None:
        samples = sum(len(x) for x, _ in micro_batches)
        model.zero_grad()
    if micro_batches:
        (x, y), *rest = micro_batches
        (loss_fn(model(x), y) * len(x) / samples).backward()
        accumulate_gradient(model, loss_fn, rest, samples)
