"""Sums over samples and divides .grad by the number of samples just before the update."""

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    def update():
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= samples
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)

    losses, total, samples, count = [], 0.0, 0, 0
    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples, count = total + loss.item(), samples + len(x), count + 1
        if count == accumulation_steps:
            update()
            total, samples, count = 0.0, 0, 0
    if count:
        update()
    return losses
