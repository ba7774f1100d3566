"""Clears in the same iteration in which it updates, before the forward."""

STYLE = "the answers to questions of a training library (Ignite)"
REPORT = "the example clears in the very iteration in which it updates"
SOURCE = "https://github.com/pytorch/ignite/issues/583"
PREDICTED = ("zero-every",)
EXERCISE = "train_epoch"
MISTAKES = ("zero-every", "mean-of-means", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


class State:
    iteration = 0


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    state, losses = State(), []

    def update_fn(batch):
        model.train()
        if state.iteration % accumulation_steps == 0:
            optimizer.zero_grad()
        x, y = batch
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if state.iteration % accumulation_steps == 0:
            optimizer.step()
            losses.append(loss.item())

    for batch in micro_batches:
        state.iteration += 1
        update_fn(batch)
    return losses
