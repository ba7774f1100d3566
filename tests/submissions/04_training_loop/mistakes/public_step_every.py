"""The same tutorial's second pitfall: an update after every batch."""

STYLE = "a tutorial's second pitfall"
REPORT = "an update after every batch defeats accumulation"
SOURCE = "claims 6"
PREDICTED = ("step-every",)
EXERCISE = "train_epoch"
MISTAKES = ("step-every",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for inputs, target in micro_batches:
        optimizer.zero_grad()
        output = model(inputs)
        loss = loss_fn(output, target)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses
