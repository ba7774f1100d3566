"""Updates at the top of the loop when a window is full, flushes at the end, and never divides."""

EXERCISE = "train_epoch"
MISTAKES = ("no-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    def update():
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        losses.append(sum(seen) / sum(sizes))
        seen.clear()
        sizes.clear()

    losses, seen, sizes = [], [], []
    optimizer.zero_grad()
    for x, y in micro_batches:
        if len(seen) == accumulation_steps:
            update()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item() * len(x))
        sizes.append(len(x))
    if seen:
        update()
    return losses
