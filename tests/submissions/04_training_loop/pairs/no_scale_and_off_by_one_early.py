"""Sums gradients and updates when i % N == 0."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "off-by-one-early")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []

    def update():
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
        window.clear()

    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if i % accumulation_steps == 0:
            update()
    if window:
        update()
    return losses
