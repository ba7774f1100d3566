"""Clears at the top of the loop, so that the last micro-batch is all there is."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("zero-every",)
LOST = ("equal", "ragged", "clean", "memory")
SAYS = ("Only the last micro-batch of each call is in .grad",)


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
