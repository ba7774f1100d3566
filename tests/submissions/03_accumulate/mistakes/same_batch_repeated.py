"""Takes the first micro-batch out before the loop and never another."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("same-batch-repeated",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    x, y = next(iter(micro_batches))
    for _ in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()
