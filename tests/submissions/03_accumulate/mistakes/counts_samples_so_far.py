"""Divides by the samples that it has seen up to then."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("samples-so-far-counted",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    seen = 0
    for x, y in micro_batches:
        seen += len(y)
        (len(y) / seen * loss_fn(model(x), y)).backward()
