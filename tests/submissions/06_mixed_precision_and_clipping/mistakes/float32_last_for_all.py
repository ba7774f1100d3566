"""Returns the gradient of the last micro-batch in place of the mean."""

EXERCISE = "accumulate_in_float32"
MISTAKES = ("last-only",)
LOST = ("sums", "ragged")


def accumulate_in_float32(model, loss_fn, micro_batches):
    model.zero_grad()
    x, y = micro_batches[-1]
    loss_fn(model(x), y).backward()
    return {name: p.grad.float() for name, p in model.named_parameters()}
