"""Updates when more than N micro-batches were gathered and forgets the rest."""

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-late", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples, count = [], 0.0, 0, 0
    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples, count = total + loss.item(), samples + len(x), count + 1
        if count > accumulation_steps:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= samples
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total / samples)
            total, samples, count = 0.0, 0, 0
    return losses
