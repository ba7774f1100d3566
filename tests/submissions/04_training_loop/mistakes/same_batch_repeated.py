"""Fetches each micro-batch once and runs it N times before the update."""

EXERCISE = "train_epoch"
MISTAKES = ("same-batch-repeated",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for x, y in micro_batches:
        optimizer.zero_grad()
        total = 0.0
        for _ in range(accumulation_steps):
            loss = loss_fn(model(x), y) / accumulation_steps
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
