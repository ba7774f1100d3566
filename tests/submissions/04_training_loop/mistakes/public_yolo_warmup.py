"""Lets its windows grow from one micro-batch to N while the epoch warms up."""

STYLE = "a detector's trainer (YOLOv5)"
REPORT = "the number of batches gathered grows during warmup, and a user asks what for"
SOURCE = "https://github.com/ultralytics/yolov5/issues/4362"
EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    warmup, last_opt_step = 2 * accumulation_steps, -1
    losses, window, stream = [], [], iter(micro_batches)
    optimizer.zero_grad()
    batch, ni = next(stream, None), 0
    while batch is not None:
        following = next(stream, None)
        reached = min(1.0, ni / warmup)
        accumulate = max(1, round(1 + reached * (accumulation_steps - 1)))
        window.append(batch)
        if ni - last_opt_step >= accumulate or following is None:
            samples, total = sum(len(x) for x, _ in window), 0.0
            for x, y in window:
                loss = loss_fn(model(x), y) * (len(x) / samples)
                loss.backward()
                total += loss.item()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(total)
            window, last_opt_step = [], ni
        batch, ni = following, ni + 1
    return losses
