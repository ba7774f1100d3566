"""Collects gradients with hooks on the parameters, which stay on the caller's model."""

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    found, before = {}, {}
    for name, p in model.named_parameters():
        before[name], p.grad = p.grad, None
        if p.requires_grad:
            p.register_hook(lambda g, name=name: found.__setitem__(name, g.clone()))
    loss_fn(model(x), y).backward()
    for name, p in model.named_parameters():
        p.grad = before[name]
    return found
