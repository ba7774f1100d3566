"""Three lines, none of which clears or divides."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("no-scale", "stale-start")
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
