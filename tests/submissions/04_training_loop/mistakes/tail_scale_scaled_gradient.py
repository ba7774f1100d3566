"""Weighs by size, relative to the mean size, and divides .grad by N at every update, the last one too."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("tail-scale",)
LOST = ("leftover",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        sizes = [len(x) for x, _ in window]
        relative = [size * len(sizes) / sum(sizes) for size in sizes]
        seen = []
        for (x, y), weight in zip(window, relative, strict=True):
            loss = weight * loss_fn(model(x), y)
            loss.backward()
            seen.append(loss.item())
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= accumulation_steps
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(seen) / len(seen))
    return losses
