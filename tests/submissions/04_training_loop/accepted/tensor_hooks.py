"""Scales every gradient by the micro-batch's share in tensor hooks, which it removes at the end."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    share = 1.0
    handles = [p.register_hook(lambda g: g * share) for p in model.parameters() if p.requires_grad]
    losses = []
    stream = iter(micro_batches)
    try:
        while window := list(islice(stream, accumulation_steps)):
            samples = sum(len(x) for x, _ in window)
            optimizer.zero_grad()
            window_loss = 0.0
            for x, y in window:
                share = len(x) / samples
                loss = loss_fn(model(x), y)
                loss.backward()
                window_loss += loss.item() * share
            optimizer.step()
            losses.append(window_loss)
    finally:
        for handle in handles:
            handle.remove()
    optimizer.zero_grad()
    return losses
