"""Clears, calls backward and leaves the gradient in .grad."""

EXERCISE = "batch_gradient"
MISTAKES = ("grad-touched",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
