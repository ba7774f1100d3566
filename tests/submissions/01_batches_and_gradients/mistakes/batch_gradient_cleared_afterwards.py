"""Starts clean and ends clean, so that what .grad held is lost."""

EXERCISE = "batch_gradient"
MISTAKES = ("grad-touched",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    return found
