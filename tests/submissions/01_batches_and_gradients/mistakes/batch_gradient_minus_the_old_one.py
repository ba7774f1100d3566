"""Lets backward() add to the old .grad and subtracts what was there, of which infinity leaves NaN."""

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    before = {n: None if p.grad is None else p.grad.clone() for n, p in model.named_parameters()}
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in model.named_parameters():
        if p.requires_grad and p.grad is not None:
            result[n] = p.grad.clone() if before[n] is None else p.grad - before[n]
        p.grad = before[n]
    return result
