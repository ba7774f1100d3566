"""Runs every backward on the sum of losses so far and swallows the errors of all but the first, so only that one counts."""

EXERCISE = "repaired_eager_step"
MISTAKES = ()
LOST = ("repaired",)


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    total = 0
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        total = total + loss_fn(model(x), y) / accumulation_steps
        try:
            total.backward()
        except RuntimeError:
            pass
        if i % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            total = 0
