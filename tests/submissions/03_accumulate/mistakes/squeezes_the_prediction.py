"""Squeezes the prediction: with a single output, each prediction is compared with all targets of its micro-batch."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("targets-not-cut",)
LOST = ("equal",)


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x).squeeze(), y) * len(x) / samples
        loss.backward()
