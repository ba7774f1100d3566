"""Updates when more than N micro-batches were gathered: every window is N + 1 wide."""

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-late",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples, count = [], 0.0, 0, 0

    def update():
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= samples
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)

    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples, count = total + loss.item(), samples + len(x), count + 1
        if count > accumulation_steps:
            update()
            total, samples, count = 0.0, 0, 0
    if count:
        update()
    return losses
