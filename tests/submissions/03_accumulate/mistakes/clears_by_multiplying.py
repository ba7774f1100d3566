"""Clears .grad by multiplying it by zero, which leaves NaN where it held NaN or infinity."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("clean",)


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0.0)
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
