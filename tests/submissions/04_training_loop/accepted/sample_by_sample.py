"""Cuts every micro-batch into single samples and accumulates over those."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for xs, ys in window:
            for i in range(len(xs)):
                loss = loss_fn(model(xs[i : i + 1]), ys[i : i + 1]) / samples
                loss.backward()
                window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
