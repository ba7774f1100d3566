"""Returns every rate once, although a schedule that stays level gives the same one to several updates."""

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"
MISTAKES = ()
LOST = ("rates",)


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = {}
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        rates[optimizer.param_groups[0]["lr"]] = True
        optimizer.step()
        scheduler.step()
    return list(rates)
