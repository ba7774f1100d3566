"""A public tutorial's first pitfall: clears in the loop, updates at every N-th micro-batch, neither scale nor flush."""

STYLE = "a tutorial's first pitfall"
REPORT = "clearing in every round leaves the last batch only"
SOURCE = "claims 5"
PREDICTED = ("zero-every",)
EXERCISE = "train_epoch"
MISTAKES = ("zero-every", "no-scale", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, seen = [], []
    for i, (inputs, target) in enumerate(micro_batches):
        optimizer.zero_grad()
        output = model(inputs)
        loss = loss_fn(output, target)
        loss.backward()
        seen.append(loss.item())
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            losses.append(sum(seen) / len(seen))
            seen = []
    return losses
