"""Turns each mean loss into a sum over samples and never divides."""

EXERCISE = "train_epoch"
MISTAKES = ("sum-reduction",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window_sum, window_samples = [], 0.0, 0
    optimizer.zero_grad()
    count = 0
    for x, y in micro_batches:
        loss_sum = loss_fn(model(x), y) * len(x)
        loss_sum.backward()
        window_sum += loss_sum.item()
        window_samples += len(x)
        count += 1
        if count % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(window_sum / window_samples)
            window_sum, window_samples = 0.0, 0
    if window_samples:
        optimizer.step()
        optimizer.zero_grad()
        losses.append(window_sum / window_samples)
    return losses
