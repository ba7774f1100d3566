"""Keeps .grad the mean over the samples seen so far: shrinks it before each backward."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        seen, mean_loss = 0, 0.0
        for x, y in window:
            old, seen = seen, seen + len(x)
            for p in model.parameters():
                if p.grad is not None:
                    p.grad *= old / seen
            loss = loss_fn(model(x), y)
            (loss * len(x) / seen).backward()
            mean_loss += (loss.item() - mean_loss) * len(x) / seen
        optimizer.step()
        optimizer.zero_grad()
        losses.append(mean_loss)
    return losses
