"""Asks the stream for its length, which a generator does not have."""

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("stream",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    last = len(micro_batches) - 1
    losses, total, samples = [], 0.0, 0
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples = total + loss.item(), samples + len(x)
        if (i + 1) % accumulation_steps == 0 or i == last:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= samples
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total / samples)
            total, samples = 0.0, 0
    return losses
