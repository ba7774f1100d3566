"""Groups micro-batches by their number divided by N."""

from itertools import groupby

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for _, group in groupby(enumerate(micro_batches), key=lambda numbered: numbered[0] // accumulation_steps):
        window = [batch for _, batch in group]
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
