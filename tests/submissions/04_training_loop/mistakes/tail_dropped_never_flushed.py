"""Updates whenever N micro-batches were gathered and clears at both ends of the epoch, but never flushes."""

EXERCISE = "train_epoch"
MISTAKES = ("tail-dropped",)
LOST = ("leftover", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    total, samples = 0.0, 0
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total += loss.item()
        samples += len(x)
        if (i + 1) % accumulation_steps == 0:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= samples
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total / samples)
            total, samples = 0.0, 0
    optimizer.zero_grad()
    return losses
