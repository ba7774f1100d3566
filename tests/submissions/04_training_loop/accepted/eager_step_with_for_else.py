"""Fills windows with an inner loop over range(N)."""

EXERCISE = "repaired_eager_step"


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while True:
        optimizer.zero_grad()
        for _ in range(accumulation_steps):
            try:
                x, y = next(stream)
            except StopIteration:
                return
            (loss_fn(model(x), y) / accumulation_steps).backward()
        optimizer.step()
