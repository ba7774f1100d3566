"""Returns from within the loop over windows, so an epoch trains on its first window only."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "rounds")
SAYS = ("Windows 2, 4 and 5 are in no update.",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
        return
