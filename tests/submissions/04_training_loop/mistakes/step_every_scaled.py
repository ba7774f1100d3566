"""Divides the loss by N and updates after every micro-batch all the same."""

EXERCISE = "train_epoch"
MISTAKES = ("step-every",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    losses, total, samples = [], 0.0, 0
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y)
        (loss / accumulation_steps).backward()
        total, samples = total + loss.item() * len(x), samples + len(x)
        optimizer.step()
        optimizer.zero_grad()
        if (i + 1) % accumulation_steps == 0:
            losses.append(total / samples)
            total, samples = 0.0, 0
    if samples:
        losses.append(total / samples)
    return losses
