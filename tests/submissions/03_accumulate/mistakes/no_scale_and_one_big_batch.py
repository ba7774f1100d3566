"""Adds up all losses, divides by nothing, and calls backward once."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("no-scale", "one-big-batch")
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    sum(loss_fn(model(x), y) for x, y in micro_batches).backward()
