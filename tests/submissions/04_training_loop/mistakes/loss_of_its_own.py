"""Takes the mean squared error instead of the loss function it is given."""

from itertools import islice

from torch.nn import functional

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = functional.mse_loss(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
