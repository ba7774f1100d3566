"""Divides each loss by the number of samples it is the mean of."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("divided-by-own-samples",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(y)
        loss.backward()
