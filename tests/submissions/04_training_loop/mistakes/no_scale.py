"""Adds up the gradients of a window and never divides."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples, count = [], 0.0, 0, 0
    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        total += loss.item() * len(x)
        samples += len(x)
        count += 1
        if count == accumulation_steps:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total / samples)
            total, samples, count = 0.0, 0, 0
    if count:
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)
    return losses
