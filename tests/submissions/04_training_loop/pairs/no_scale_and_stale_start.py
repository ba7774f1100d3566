"""Sums a window's gradients, flushes the leftover, but does not clear when it starts."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "stale-start")
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []

    def update():
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
        window.clear()

    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if len(window) == accumulation_steps:
            update()
    if window:
        update()
    return losses
