"""Sums over all samples and never divides."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("sum-reduction",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (len(x) * loss_fn(model(x), y)).backward()
