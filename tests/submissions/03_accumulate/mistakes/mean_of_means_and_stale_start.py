"""Divides by the number of micro-batches and does not clear."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("mean-of-means", "stale-start")
LOST = ("ragged", "clean")


def accumulate_gradient(model, loss_fn, micro_batches):
    n = len(micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) / n).backward()
