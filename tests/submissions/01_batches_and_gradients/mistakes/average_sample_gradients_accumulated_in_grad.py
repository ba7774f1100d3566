"""Lets backward do the adding, on top of what .grad held, and leaves it there."""

EXERCISE = "average_sample_gradients"
MISTAKES = ("stale-start", "grad-touched")
LOST = ("untouched",)


def average_sample_gradients(model, loss_fn, x, y):
    for i in range(len(x)):
        (loss_fn(model(x[i : i + 1]), y[i : i + 1]) / len(x)).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
