"""Divides .grad by the number of micro-batches gathered, at the update."""

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, gathered = [], []

    def finish():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(1 / len(gathered))
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(loss * size for loss, size in gathered) / sum(size for _, size in gathered))
        gathered.clear()

    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        gathered.append((loss.item(), len(x)))
        if len(gathered) == accumulation_steps:
            finish()
    if gathered:
        finish()
    return losses
