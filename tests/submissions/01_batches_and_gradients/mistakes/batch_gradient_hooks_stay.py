"""Collects gradients in hooks, which it leaves on the parameters: at a later call those of earlier ones add theirs."""

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    found = {}
    before = {name: p.grad for name, p in model.named_parameters()}
    for name, p in model.named_parameters():
        if p.requires_grad:
            p.register_hook(lambda g, name=name: found.setdefault(name, g) * 2)
    model.zero_grad()
    loss_fn(model(x), y).backward()
    for name, p in model.named_parameters():
        p.grad = before[name]
    return found
