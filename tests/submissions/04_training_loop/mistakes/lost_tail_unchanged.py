"""The given loop as it stands."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ("tail-dropped",)
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        if len(window) == accumulation_steps:
            optimizer.step()
