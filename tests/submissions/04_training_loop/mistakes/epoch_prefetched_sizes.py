"""Copies the stream with tee and runs one copy to its end to learn all sizes."""

from itertools import islice, tee

EXERCISE = "train_epoch"
MISTAKES = ("epoch-prefetched",)
LOST = ("stream",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    ahead, stream = tee(micro_batches)
    sizes = [len(x) for x, _ in ahead]
    losses = []
    for first in range(0, len(sizes), accumulation_steps):
        samples = sum(sizes[first : first + accumulation_steps])
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in islice(stream, accumulation_steps):
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
