"""Every loss over N, an update at every N-th micro-batch, a clear at the start: the leftover is thrown away."""

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-dropped")
LOST = ("leftover", "ragged", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, start=1):
        loss = loss_fn(model(x), y)
        (loss / accumulation_steps).backward()
        window.append((loss.item(), len(x)))
        if i % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
            window = []
    return losses
