"""Keeps the clear where it was and guards it: only at the first micro-batch of a window."""

EXERCISE = "repaired_early_clear"


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches):
        if i % accumulation_steps == 0:
            optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
