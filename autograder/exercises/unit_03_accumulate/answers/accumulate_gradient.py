"""Weights each loss by its share of the samples, so it has to know their number first.

Adds up sums and divides `.grad` once at the end: it reads the micro-batches only once.
"""


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    samples = 0
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()
        samples += len(x)
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= samples
