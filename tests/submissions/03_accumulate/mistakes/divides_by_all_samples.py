"""Divides each mean loss by the number of all samples."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("divided-by-all-samples",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    samples = sum(len(y) for _, y in micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / samples
        loss.backward()
