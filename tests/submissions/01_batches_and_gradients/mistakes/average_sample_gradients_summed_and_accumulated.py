"""Two mistakes at once: never divides, and uses .grad as its buffer."""

EXERCISE = "average_sample_gradients"
MISTAKES = ("sums-samples", "grad-touched")
LOST = ("mean", "summed", "untouched")


def average_sample_gradients(model, loss_fn, x, y):
    model.zero_grad()
    for i in range(len(x)):
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
