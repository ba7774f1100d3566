"""Applies a leftover window unless it is a single micro-batch."""

EXERCISE = "repaired_lost_tail"
MISTAKES = ()
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    batches = list(micro_batches)
    for start in range(0, len(batches), accumulation_steps):
        window = batches[start : start + accumulation_steps]
        if len(window) == 1:
            break
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        optimizer.step()
