"""Counts the samples of the first call only, and divides by that number ever after. No named mistake."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")
COUNTED = {}


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = COUNTED.setdefault("samples", sum(len(x) for x, _ in micro_batches))
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
