"""Adds up all losses before its only backward."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("one-big-batch",)
LOST = ("memory",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    total, samples = 0, 0
    for x, y in micro_batches:
        total = total + loss_fn(model(x), y) * len(x)
        samples += len(x)
    (total / samples).backward()
