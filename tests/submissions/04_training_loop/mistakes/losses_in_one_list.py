"""Returns the same list from every call and empties it at the next, so what was returned for an epoch is lost."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("losses",)

LOSSES = []


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    LOSSES.clear()
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        LOSSES.append(window_loss)
    return LOSSES
