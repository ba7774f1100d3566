"""Moves the clear down by one line too few: it comes before the update."""

EXERCISE = "repaired_early_clear"
MISTAKES = ("zero-before-step",)
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.zero_grad()
            optimizer.step()
