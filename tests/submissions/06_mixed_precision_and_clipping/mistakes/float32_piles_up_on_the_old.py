"""Adds .grad to its sums after every micro-batch, weighs the losses and never clears."""

EXERCISE = "accumulate_in_float32"
MISTAKES = ("gradients-pile-up",)
LOST = ("sums", "ragged")


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
        for name, p in model.named_parameters():
            totals[name] = totals.get(name, 0) + p.grad.float()
    return totals
