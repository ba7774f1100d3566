"""Updates after every micro-batch and never clears."""

EXERCISE = "train_epoch"
MISTAKES = ("step-every", "never-zero")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
