"""Counts micro-batches from 1 and updates when N divides the count; flushes at the end."""

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples, pending = [], 0.0, 0, False

    def update():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(1 / samples)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)

    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples, pending = total + loss.item(), samples + len(x), True
        if i % accumulation_steps == 0:
            update()
            total, samples, pending = 0.0, 0, False
    if pending:
        update()
    return losses
