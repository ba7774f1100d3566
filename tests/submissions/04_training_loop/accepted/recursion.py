"""Trains one window and calls itself for the rest of the stream."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    window = list(islice(stream, accumulation_steps))
    optimizer.zero_grad()
    if not window:
        return []
    samples = sum(len(x) for x, _ in window)

    def accumulate(batches):
        if not batches:
            return 0.0
        (x, y), *rest = batches
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
        return loss.item() + accumulate(rest)

    window_loss = accumulate(window)
    optimizer.step()
    return [window_loss, *train_epoch(model, loss_fn, optimizer, stream, accumulation_steps)]
