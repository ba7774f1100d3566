"""Divides by N whatever a window holds, and moves the schedule on once more after the epoch."""

EXERCISE = "train_with_schedule"
MISTAKES = ("mean-of-means", "tail-scale")
LOST = ("updates", "leftover", "rates")
SAYS = ("Update 4 uses the rate that is due for update 5.",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        (loss_fn(model(x), y) / accumulation_steps).backward()
        if i % accumulation_steps == 0 or i == len(micro_batches):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    scheduler.step()
    return rates
