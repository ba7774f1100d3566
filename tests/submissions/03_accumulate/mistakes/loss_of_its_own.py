"""Takes the mean squared error instead of the loss function it is given."""

from torch.nn import functional

EXERCISE = "accumulate_gradient"
MISTAKES = ("loss-of-its-own",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = functional.mse_loss(model(x), y) * len(x) / samples
        loss.backward()
