"""Sums a window's gradients, updates at every N-th micro-batch and clears when it starts: the leftover is thrown away."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y)
        loss.backward()
        window.append((loss.item(), len(x)))
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
            window = []
    return losses
