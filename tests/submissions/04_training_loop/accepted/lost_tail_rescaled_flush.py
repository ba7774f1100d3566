"""Counts, divides by N, and multiplies the leftover's gradient back up before its update."""

EXERCISE = "repaired_lost_tail"


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    count = 0
    for x, y in micro_batches:
        (loss_fn(model(x), y) / accumulation_steps).backward()
        count += 1
        if count == accumulation_steps:
            optimizer.step()
            optimizer.zero_grad()
            count = 0
    if count:
        for p in model.parameters():
            p.grad *= accumulation_steps / count
        optimizer.step()
        optimizer.zero_grad()
