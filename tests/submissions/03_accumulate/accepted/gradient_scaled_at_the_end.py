"""Sums over samples in one pass and divides .grad by their number at the end."""

EXERCISE = "accumulate_gradient"


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
