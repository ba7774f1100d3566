"""Subtracts the targets from the predictions in place, in the memory of the targets."""

EXERCISE = "repaired_early_clear"
MISTAKES = ()
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        y -= model(x).detach()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
