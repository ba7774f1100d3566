"""Updates once per window but still clears in every turn."""

EXERCISE = "repaired_eager_step"
MISTAKES = ("zero-every",)
LOST = ("repaired",)


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches, 1):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            optimizer.step()
