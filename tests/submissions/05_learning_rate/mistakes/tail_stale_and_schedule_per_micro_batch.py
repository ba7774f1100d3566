"""The loop of many scripts: divided by N, leftovers left in .grad, and the schedule moved on with every micro-batch."""

EXERCISE = "train_with_schedule"
MISTAKES = ("schedule-per-micro-batch", "mean-of-means", "tail-stale")
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for k, (x, y) in enumerate(micro_batches, 1):
        (loss_fn(model(x), y) / accumulation_steps).backward()
        if k % accumulation_steps == 0:
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
    return rates
