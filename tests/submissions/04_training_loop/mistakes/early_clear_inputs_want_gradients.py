"""Collects gradients of the inputs, too, and leaves them with the micro-batches."""

EXERCISE = "repaired_early_clear"
MISTAKES = ()
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches):
        if i % accumulation_steps == 0:
            optimizer.zero_grad()
        loss = loss_fn(model(x.requires_grad_()), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
