"""The questioner's formula: the update is the sum of N gradients, for every N batches."""

STYLE = "a question on a forum"
REPORT = "it sums N gradients; equal to a large batch only with the rate over N"
SOURCE = "claims 2"
PREDICTED = ("no-scale",)
EXERCISE = "train_epoch"
MISTAKES = ("no-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    batches = iter(micro_batches)
    losses, more = [], True
    while more:
        optimizer.zero_grad()
        seen = []
        for _ in range(accumulation_steps):
            try:
                x, y = next(batches)
            except StopIteration:
                more = False
                break
            loss = loss_fn(model(x), y)
            loss.backward()
            seen += [loss.item()] * len(x)
        if seen:
            optimizer.step()
            losses.append(sum(seen) / len(seen))
    return losses
