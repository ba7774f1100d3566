"""Moves the update behind the loop: one for the whole epoch."""

EXERCISE = "repaired_eager_step"
MISTAKES = ()
LOST = ("repaired",)


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
    optimizer.step()
