"""Runs all micro-batches through the model before it computes a loss: the model's part of every graph is alive."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("one-big-batch",)
LOST = ("memory",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    outputs = [model(x) for x, _ in micro_batches]
    while outputs:
        output, (x, y) = outputs.pop(0), micro_batches[-len(outputs) - 1]
        (loss_fn(output, y) * (len(x) / samples)).backward()
