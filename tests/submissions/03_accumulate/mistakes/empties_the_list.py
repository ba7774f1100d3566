"""Takes the micro-batches out of the list it is given."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    while micro_batches:
        x, y = micro_batches.pop(0)
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
