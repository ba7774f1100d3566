"""Updates after every micro-batch; moves the schedule after every window."""

EXERCISE = "train_with_schedule"
MISTAKES = ("step-every",)
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for k, (x, y) in enumerate(micro_batches, 1):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if k % accumulation_steps == 0 or k == len(micro_batches):
            scheduler.step()
    return rates
