"""Lets backward add up and never divides."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("no-scale",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
