"""A flat loop that counts; asks the scheduler for the rate; scales .grad before the update."""

EXERCISE = "train_with_schedule"


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    micro_batches = list(micro_batches)
    rates, samples = [], 0
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        (loss_fn(model(x), y) * len(x)).backward()
        samples += len(x)
        if i % accumulation_steps == 0 or i == len(micro_batches):
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= samples
            rates += scheduler.get_last_lr()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            samples = 0
    return rates
