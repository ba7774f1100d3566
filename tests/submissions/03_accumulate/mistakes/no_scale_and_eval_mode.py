"""Sums the gradients of a model in evaluation mode."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("no-scale", "eval-mode")
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.eval()
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
    model.train()
