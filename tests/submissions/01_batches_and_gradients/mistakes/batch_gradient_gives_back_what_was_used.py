"""Clears every .grad, but gives it back only to the parameters that the loss depends on."""

EXERCISE = "batch_gradient"
MISTAKES = ("grad-touched",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    before = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    loss_fn(model(x), y).backward()
    gradients = {}
    for name, p in model.named_parameters():
        if p.grad is not None:
            gradients[name], p.grad = p.grad, before[name]
    return gradients
