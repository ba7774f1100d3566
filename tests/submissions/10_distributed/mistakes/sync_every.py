"""Shares after every micro-batch."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-every",)
LOST = ("rounds",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        optimizer.step()
