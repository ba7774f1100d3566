"""Has the backwards inside no_sync, but not the forwards."""

import contextlib
from itertools import islice

STYLE = "a GPT speed run before its repair (modded-nanogpt)"
REPORT = "with the forward outside no_sync gradients are still synchronized every time"
SOURCE = "https://github.com/KellerJordan/modded-nanogpt/pull/31"
PREDICTED = ("sync-around-backward-only",)
EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-around-backward-only", "mean-of-means")
LOST = ("leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    optimizer.zero_grad(set_to_none=True)
    while window := list(islice(stream, accumulation_steps)):
        train_accumulation_steps = len(window)
        for i, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y)
            context = model.no_sync() if i < train_accumulation_steps else contextlib.nullcontext()
            with context:
                loss.backward()
        for p in model.parameters():
            p.grad /= train_accumulation_steps
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
