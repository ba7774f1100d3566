"""Has no_sync on for the whole window."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("never-sync",)
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        with model.no_sync():
            for x, y in window:
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
