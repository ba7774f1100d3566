"""Fetches one window at a time, so it knows the number of samples before the first backward.

Fetches nothing ahead: it adds up sums over samples and divides `.grad` by their number when the window is full or the stream
ends.
"""


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
    for i, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples = total + loss.item(), samples + len(x)
        if i % accumulation_steps == 0:
            update()
            total, samples = 0.0, 0
    if samples:
        update()
    return losses
