"""Asks for one micro-batch at a time with next and a default."""

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    losses = []
    optimizer.zero_grad()
    total, samples, gathered = 0.0, 0, 0
    batch = next(stream, None)
    while batch is not None:
        x, y = batch
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total += loss.item()
        samples += len(x)
        gathered += 1
        batch = next(stream, None)
        if gathered == accumulation_steps or batch is None:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.div_(samples)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total / samples)
            total, samples, gathered = 0.0, 0, 0
    return losses
