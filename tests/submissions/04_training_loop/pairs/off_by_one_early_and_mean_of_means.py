"""Updates when i % N == 0 and divides .grad by the number of micro-batches gathered."""

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early", "mean-of-means")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, gathered = [], []

    def update():
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= len(gathered)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(a * b for a, b in gathered) / sum(b for _, b in gathered))
        gathered.clear()

    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y)
        loss.backward()
        gathered.append((loss.item(), len(x)))
        if i % accumulation_steps == 0:
            update()
    if gathered:
        update()
    return losses
