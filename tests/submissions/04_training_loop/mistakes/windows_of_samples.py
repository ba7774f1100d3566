"""Fills windows by samples: with N times as many as the first micro-batch has."""

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("ragged", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, held, sums, due = [], 0, 0.0, 0

    def update():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad /= held
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sums / held)

    optimizer.zero_grad()
    for x, y in micro_batches:
        due = due or accumulation_steps * len(x)
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        held, sums = held + len(x), sums + loss.item()
        if held >= due:
            update()
            held, sums = 0, 0.0
    if held:
        update()
    return losses
