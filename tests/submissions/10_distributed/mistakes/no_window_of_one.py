"""Takes the last micro-batch of a full window for the one after N - 1 others, so that with N = 1 gradients never travel."""

from contextlib import nullcontext

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for first in range(0, len(micro_batches), accumulation_steps):
        window = micro_batches[first : first + accumulation_steps]
        samples = sum(len(x) for x, _ in window)
        waiting = [model.no_sync() for _ in window[1:]] if accumulation_steps > 1 else [model.no_sync()]
        for (x, y), context in zip(window, [*waiting, nullcontext()]):
            with context:
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
        optimizer.zero_grad()
