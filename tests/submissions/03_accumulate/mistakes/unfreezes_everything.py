"""Asks for gradients of all parameters, also of frozen ones."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("ragged", "clean")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.requires_grad_(True)
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
