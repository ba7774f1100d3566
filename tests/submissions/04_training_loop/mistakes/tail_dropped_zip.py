"""Cuts the stream with zip(*[iterator] * N), which throws an incomplete window away."""

EXERCISE = "train_epoch"
MISTAKES = ("tail-dropped",)
LOST = ("leftover", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for window in zip(*[iter(micro_batches)] * accumulation_steps, strict=False):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
