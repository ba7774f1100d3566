"""The schedule moves on at every call, the optimizer only at every N-th one."""

from itertools import islice

STYLE = "a training wrapper (accelerate)"
REPORT = "the scheduler steps with every batch, also when the optimizer does not"
SOURCE = "https://github.com/huggingface/accelerate/issues/963"
PREDICTED = ("schedule-per-micro-batch",)
EXERCISE = "train_with_schedule"
MISTAKES = ("schedule-per-micro-batch", "mean-of-means")
LOST = ("updates", "leftover", "rates")


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    stream, rates = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        for step, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
            if step == len(window):
                rates.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()
    return rates
