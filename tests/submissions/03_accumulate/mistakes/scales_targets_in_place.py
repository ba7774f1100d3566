"""Scales predictions and, in place, targets by shares."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        share = len(x) / total
        y *= share
        loss_fn(model(x) * share, y).backward()
