"""Keeps the number of samples as an attribute of the model."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    model.samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / model.samples).backward()
