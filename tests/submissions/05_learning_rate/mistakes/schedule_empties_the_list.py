"""Takes the micro-batches out of the list it was given."""

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    while micro_batches:
        window = [micro_batches.pop(0) for _ in range(min(accumulation_steps, len(micro_batches)))]
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * (len(x) / samples)).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
