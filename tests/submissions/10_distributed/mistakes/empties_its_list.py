"""Takes each window out of the list of micro-batches, which is empty afterwards."""

from contextlib import nullcontext

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    model.train()
    while micro_batches:
        window = micro_batches[:accumulation_steps]
        del micro_batches[:accumulation_steps]
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for k, (x, y) in enumerate(window):
            with model.no_sync() if k < len(window) - 1 else nullcontext():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
