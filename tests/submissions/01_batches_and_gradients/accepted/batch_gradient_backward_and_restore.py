"""Uses backward, and puts back what .grad held."""

EXERCISE = "batch_gradient"


def batch_gradient(model, loss_fn, x, y):
    before = {name: p.grad for name, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = None
    loss_fn(model(x), y).backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    for name, p in model.named_parameters():
        p.grad = before[name]
    print("largest component:", max(float(g.abs().max()) for g in found.values()))
    return found
