"""Updates when i % N == 0 and never flushes: the micro-batches after the last such i are thrown away."""

EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early", "tail-dropped")
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
    return losses
