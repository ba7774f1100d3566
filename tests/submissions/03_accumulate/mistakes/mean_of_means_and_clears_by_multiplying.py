"""Divides by the number of micro-batches, and clears by multiplying by zero, which leaves NaN where .grad held infinity."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("mean-of-means",)
LOST = ("ragged", "clean")
SAYS = ("If .grad holds infinity before the call: What is in .grad is not",)


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0.0)
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
