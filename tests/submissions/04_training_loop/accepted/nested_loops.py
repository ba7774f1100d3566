"""Two plain loops, the inner one fills a window and stops early when the stream ends."""

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    losses = []
    ended = False
    while not ended:
        window = []
        for _ in range(accumulation_steps):
            try:
                window.append(next(stream))
            except StopIteration:
                ended = True
                break
        if not window:
            break
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
