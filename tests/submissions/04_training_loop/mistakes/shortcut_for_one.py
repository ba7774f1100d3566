"""With N = 1 it takes a shortcut, which does not clear .grad before the first backward."""

from itertools import islice

EXERCISE = "train_epoch"
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    if accumulation_steps == 1:
        for x, y in micro_batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        return losses
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = sum(len(x) for x, _ in window)
        mean = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / total
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
    return losses
