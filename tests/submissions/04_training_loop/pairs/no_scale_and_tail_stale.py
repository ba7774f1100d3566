"""Sums a window's gradients, clears after updates only and never flushes the leftover."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "tail-stale")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if len(window) == accumulation_steps:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
            window = []
    return losses
