"""Hands the targets to the loss function as its predictions."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("loss-arguments-swapped",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(y, model(x)) * len(x) / samples
        loss.backward()
