"""The loop of the textbooks with a flush at the end: every loss over N, whatever its size, the leftover's too."""

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-scale")
LOST = ("leftover", "ragged")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []

    def update():
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(a * b for a, b in window) / sum(b for _, b in window))
        window.clear()

    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        (loss / accumulation_steps).backward()
        window.append((loss.item(), len(x)))
        if len(window) == accumulation_steps:
            update()
    if window:
        update()
    return losses
