"""Weighs by share and divides .grad by the number of micro-batches afterwards."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("double-scale",)
LOST = ("equal", "ragged", "clean", "memory")
SAYS = ("number of micro-batches twice, so the gradient of several is shorter than after one division.",)


def accumulate_gradient(model, loss_fn, micro_batches):
    micro_batches = list(micro_batches)
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= len(micro_batches)
