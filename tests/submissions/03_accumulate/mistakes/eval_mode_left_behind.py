"""Right gradients, but the model is left in evaluation mode."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / samples).backward()
    model.eval()
