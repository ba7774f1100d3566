"""Clears only at its first call for a model, remembered on the model, so a second call adds to the first."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("clean",)


def accumulate_gradient(model, loss_fn, micro_batches):
    if not getattr(model, "cleared", False):
        model.zero_grad()
        model.cleared = True
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
