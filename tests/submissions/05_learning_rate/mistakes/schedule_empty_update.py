"""Makes one more update after the epoch, without gradients, and moves the schedule on for it."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("updates", "leftover", "rates")
SAYS = (
    "All gradients that are due are there, but your loop makes 3 more updates, whose gradients are zero or None.",
    "Unlike None, zeros let momentum move the parameters.",
    "Of the updates that have a gradient, number 4 uses the rate that is due for update 5.",
)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    optimizer.step()
    scheduler.step()
    return rates
