"""Tidies up after itself: clears .grad as its last act."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("grad-not-filled",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
    model.zero_grad()
