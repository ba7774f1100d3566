"""Converts the model for good."""

EXERCISE = "accumulate_in_float32"
MISTAKES = ("computed-in-float32",)
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    model.float()
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x.float()), y.float()) * len(x) / samples).backward()
    return {name: p.grad for name, p in model.named_parameters()}
