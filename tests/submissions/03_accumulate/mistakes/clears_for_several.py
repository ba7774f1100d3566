"""Clears only if there is more than one micro-batch."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("clean",)


def accumulate_gradient(model, loss_fn, micro_batches):
    if len(micro_batches) > 1:
        model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
