"""Counts from 1 and updates when N divides the count."""

EXERCISE = "repaired_eager_step"


def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
