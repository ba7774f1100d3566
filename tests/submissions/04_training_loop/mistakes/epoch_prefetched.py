"""Turns the stream into a list to know its length."""

EXERCISE = "train_epoch"
MISTAKES = ("epoch-prefetched",)
LOST = ("stream",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    micro_batches = list(micro_batches)
    losses = []
    for start in range(0, len(micro_batches), accumulation_steps):
        window = micro_batches[start : start + accumulation_steps]
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
