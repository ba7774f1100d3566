"""The given loop as it stands."""

EXERCISE = "repaired_early_clear"
MISTAKES = ("zero-every",)
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
