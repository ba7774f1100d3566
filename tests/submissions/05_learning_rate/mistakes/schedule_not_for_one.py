"""Clears before the first of N micro-batches, which none is if N is 1."""

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates, count = [], len(micro_batches)
    for k, (x, y) in enumerate(micro_batches, 1):
        if k % accumulation_steps == 1:
            optimizer.zero_grad()
            samples = sum(len(inputs) for inputs, _ in micro_batches[k - 1 : k - 1 + accumulation_steps])
        elif accumulation_steps == 1:
            samples = len(x)
        (loss_fn(model(x), y) * len(x) / samples).backward()
        if k % accumulation_steps == 0 or k == count:
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
    return rates
