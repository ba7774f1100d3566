"""Updates when i % N == 0, so the first window is one micro-batch wide."""

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples = [], 0.0, 0
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples = total + loss.item(), samples + len(x)
        if i % accumulation_steps == 0:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= samples
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total / samples)
            total, samples = 0.0, 0
    if samples:
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= samples
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)
    return losses
