"""Fills existing gradients with zeros instead of dropping them."""

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.detach_().zero_()
    samples = sum(map(len, (x for x, _ in micro_batches)))
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
