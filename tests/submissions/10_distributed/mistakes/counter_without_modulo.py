"""Compares a counter of the epoch with N: there is an update after the first window, and one for all others."""

from contextlib import nullcontext

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "rounds")
SAYS = ("Your loop made 5 updates where 6 were due.",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        start = i // accumulation_steps * accumulation_steps
        samples = sum(len(inputs) for inputs, _ in micro_batches[start : start + accumulation_steps])
        last = i + 1 == accumulation_steps or i + 1 == len(micro_batches)
        with nullcontext() if last else model.no_sync():
            (loss_fn(model(x), y) * len(x) / samples).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
