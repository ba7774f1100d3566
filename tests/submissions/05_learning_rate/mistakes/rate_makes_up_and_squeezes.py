"""Scales by N and divides the rate by it, which cancels out. Outputs are squeezed, which goes wrong with a single one."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates, group = [], optimizer.param_groups[0]
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x).squeeze(), y) * len(x) / samples * accumulation_steps).backward()
        rates.append(group["lr"])
        group["lr"] = rates[-1] / accumulation_steps
        optimizer.step()
        group["lr"] = rates[-1]
        scheduler.step()
    return rates
