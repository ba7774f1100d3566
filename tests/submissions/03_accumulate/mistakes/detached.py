"""Detaches every loss, so that backward finds no graph."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("detached",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y).detach() * len(x) / samples
        loss.backward()
