"""Calls backward in training mode, on top of what .grad holds, and puts everything back."""

EXERCISE = "batch_gradient"
MISTAKES = ("training-mode", "stale-start")
LOST = ("untouched",)
SAYS = ("model in training mode. What .grad held before the call is part",)


def batch_gradient(model, loss_fn, x, y):
    modes = [layer.training for layer in model.modules()]
    before = {p: None if p.grad is None else p.grad.clone() for p in model.parameters()}
    model.train()
    loss_fn(model(x), y).backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.requires_grad}
    for p, gradient in before.items():
        p.grad = gradient
    for layer, mode in zip(model.modules(), modes, strict=True):
        layer.training = mode
    return found
