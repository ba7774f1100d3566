"""Updates and moves the schedule after every micro-batch."""

EXERCISE = "train_with_schedule"
MISTAKES = ("step-every",)
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
