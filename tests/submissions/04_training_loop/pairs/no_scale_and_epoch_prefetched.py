"""Fetches the whole stream first and sums gradients."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "epoch-prefetched")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    everything = list(micro_batches)
    losses, window = [], []
    optimizer.zero_grad()
    for i, (x, y) in enumerate(everything, 1):
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if i % accumulation_steps == 0 or i == len(everything):
            optimizer.step()
            optimizer.zero_grad()
            losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
            window = []
    return losses
