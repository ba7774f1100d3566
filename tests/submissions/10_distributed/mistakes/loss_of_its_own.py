"""Takes the mean squared error, whatever loss it is given."""

from contextlib import nullcontext
from itertools import islice

from torch.nn import functional as F

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (F.mse_loss(model(x), y) * len(x) / samples).backward()
        optimizer.step()
