"""Sums the gradients of the whole epoch: neither a division nor a clear between windows."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "never-zero")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []

    def update():
        optimizer.step()
        losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
        window.clear()

    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if len(window) == accumulation_steps:
            update()
    if window:
        update()
    return losses
