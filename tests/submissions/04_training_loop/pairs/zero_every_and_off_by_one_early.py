"""Clears before every backward and updates when i % N == 0."""

EXERCISE = "train_epoch"
MISTAKES = ("zero-every", "mean-of-means", "off-by-one-early", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for i, (x, y) in enumerate(micro_batches):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            optimizer.step()
            losses.append(loss.item() * accumulation_steps)
    return losses
