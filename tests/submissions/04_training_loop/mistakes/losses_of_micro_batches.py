"""Returns one loss for each micro-batch where one for each window was asked for."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("losses",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss * len(x) / samples).backward()
            losses.append(loss.item())
        optimizer.step()
    optimizer.zero_grad()
    return losses
