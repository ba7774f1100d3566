"""Calls backward on a running sum after every micro-batch."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("retained-graph",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    loss = 0
    for x, y in micro_batches:
        loss += loss_fn(model(x), y) * len(x) / samples
        loss.backward(retain_graph=True)
