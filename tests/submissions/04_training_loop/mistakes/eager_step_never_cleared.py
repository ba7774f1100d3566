"""Updates once per window and never clears."""

EXERCISE = "repaired_eager_step"
MISTAKES = ("never-zero",)
LOST = ("repaired",)


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            optimizer.step()
