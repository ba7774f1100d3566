"""Divides each loss by N, accumulates in .grad, converts at the end."""

EXERCISE = "accumulate_in_float32"
MISTAKES = ("mean-of-means", "low-precision-sum")
LOST = ("sums", "ragged")


def accumulate_in_float32(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    return {name: p.grad.float() for name, p in model.named_parameters()}
