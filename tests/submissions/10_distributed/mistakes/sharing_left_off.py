"""Switches sharing on for the last micro-batch of a window by hand, and off again, for good."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            model.require_backward_grad_sync = k == len(window)
            (loss_fn(model(x), y) * len(x) / samples).backward()
        model.require_backward_grad_sync = False
        optimizer.step()
