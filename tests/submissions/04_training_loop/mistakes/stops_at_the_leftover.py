"""Calls next N times for each window and has no plan for the stream's end."""

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    losses = []
    while True:
        optimizer.zero_grad()
        window_loss = 0.0
        for _ in range(accumulation_steps):
            x, y = next(stream)
            loss = loss_fn(model(x), y) / accumulation_steps
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
