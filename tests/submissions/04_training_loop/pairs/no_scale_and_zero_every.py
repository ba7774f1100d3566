"""Clears before every backward and does not divide: each update is the last micro-batch's gradient."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "zero-every")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []

    def update():
        optimizer.step()
        losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
        window.clear()

    for x, y in micro_batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if len(window) == accumulation_steps:
            update()
    if window:
        update()
    optimizer.zero_grad()
    return losses
