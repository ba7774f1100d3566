"""Computes the loss before no_sync, and goes backward inside."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-around-backward-only",)
LOST = ("rounds",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y) * len(x) / samples
            if k < len(window):
                with model.no_sync():
                    loss.backward()
            else:
                loss.backward()
        optimizer.step()
