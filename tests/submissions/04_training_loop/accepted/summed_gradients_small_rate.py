"""Sums over the samples and divides the learning rate by their number for the update: the same for plain SGD."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    rates = [group["lr"] for group in optimizer.param_groups]
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x)
            loss.backward()
            total += loss.item()
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate / samples
        optimizer.step()
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        losses.append(total / samples)
    optimizer.zero_grad()
    return losses
