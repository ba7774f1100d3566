"""Counts one micro-batch too few."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("micro-batch-left-out",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    count = max(1, len(micro_batches) - 1)
    samples = sum(len(y) for _, y in micro_batches[:count])
    for k in range(count):
        x, y = micro_batches[k]
        (loss_fn(model(x), y) * (len(y) / samples)).backward()
