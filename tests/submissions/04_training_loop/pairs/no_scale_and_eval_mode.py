"""Sums gradients of a model in evaluation mode."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "eval-mode")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    model.eval()
    losses, window = [], []

    def update():
        optimizer.step()
        optimizer.zero_grad()
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
