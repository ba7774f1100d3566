"""Calls backward on top of what .grad held."""

EXERCISE = "batch_gradient"
MISTAKES = ("stale-start", "grad-touched")
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    loss_fn(model(x), y).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
