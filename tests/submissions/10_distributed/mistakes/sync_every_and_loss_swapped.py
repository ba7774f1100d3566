"""Shares after every micro-batch, and gives the loss its two arguments in the wrong order."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-every",)
LOST = ("full", "leftover", "rounds")
SAYS = ("The parameters are those of updates whose loss was given its two arguments in the wrong",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(y, model(x)) * len(x) / samples).backward()
        optimizer.step()
