"""Insists on at least two micro-batches."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal",)


def accumulate_gradient(model, loss_fn, micro_batches):
    if len(micro_batches) < 2:
        raise ValueError("there is nothing to accumulate")
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
