"""Counts from 0: the first window is one wide, and the last micro-batches are lost."""

EXERCISE = "repaired_eager_step"
MISTAKES = ("off-by-one-early",)
LOST = ("repaired",)


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
