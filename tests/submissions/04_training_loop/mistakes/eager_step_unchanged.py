"""The given loop as it stands."""

EXERCISE = "repaired_eager_step"
MISTAKES = ("step-every",)
LOST = ("repaired",)


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        optimizer.step()
