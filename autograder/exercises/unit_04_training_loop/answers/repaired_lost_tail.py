"""Drops the condition: a window divides by what it has, so every window may update.

Counts, divides by N, and scales the leftover's gradient up before a last update after the loop.
"""


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
