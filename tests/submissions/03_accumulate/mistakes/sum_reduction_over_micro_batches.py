"""Sums over samples and divides by the number of micro-batches."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("sum-reduction",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    count = 0
    for x, y in micro_batches:
        (len(x) * loss_fn(model(x), y)).backward()
        count += 1
    for p in model.parameters():
        if p.grad is not None:
            p.grad.div_(count)
