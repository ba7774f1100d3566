"""Zeroes every p.grad in place between forward and backward."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("zero-every",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            window_loss += loss.item()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.zero_()
            loss.backward()
        optimizer.step()
        losses.append(window_loss)
    model.zero_grad(set_to_none=True)
    return losses
