"""Takes every parameter that has something in .grad, a frozen one included."""

EXERCISE = "batch_gradient"
MISTAKES = ("frozen-returned",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    before = [(p, p.grad) for p in model.parameters()]
    for p, _ in before:
        if p.requires_grad:
            p.grad = None
    loss_fn(model(x), y).backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    for p, grad in before:
        p.grad = grad
    return found
