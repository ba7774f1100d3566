"""Throws the leftover window away."""

from contextlib import nullcontext

EXERCISE = "ddp_train_epoch"
MISTAKES = ("tail-dropped",)
LOST = ("leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for start in range(0, len(micro_batches) - accumulation_steps + 1, accumulation_steps):
        window = micro_batches[start : start + accumulation_steps]
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
