"""The ordinary loop with the clear after the update."""

EXERCISE = "train_epoch"
MISTAKES = ("step-every", "stale-start")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses
