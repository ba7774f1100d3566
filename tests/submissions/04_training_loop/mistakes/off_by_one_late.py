"""Keeps i == 0 from making an update, but counts i % N == 0 after it: the first window is N + 1 wide."""

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-late",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples = [], 0.0, 0

    def update():
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= samples
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)

    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples = total + loss.item(), samples + len(x)
        if i > 0 and i % accumulation_steps == 0:
            update()
            total, samples = 0.0, 0
    if samples:
        update()
    return losses
