"""Weighs as it should and never clears what .grad held before."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("stale-start",)
LOST = ("clean",)


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
