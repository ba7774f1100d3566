"""Takes the first micro-batch"s size for that of all."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("samples-of-one-counted",)
LOST = ("ragged",)


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    samples = len(micro_batches[0][0]) * len(micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(y)
        (loss / samples).backward()
