"""Counts batches from 1 and still adds 1 before it asks for a multiple of N."""

STYLE = "a script around accelerate (dLLM-RL)"
REPORT = "the step counts from 1 already, so the first update comes one batch too early"
SOURCE = "https://github.com/Gen-Verse/dLLM-RL/issues/7"
PREDICTED = ("off-by-one-early",)
EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early", "mean-of-means", "tail-stale")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total = [], 0.0
    for step, (inputs, target) in enumerate(micro_batches, start=1):
        loss = loss_fn(model(inputs), target) / accumulation_steps
        loss.backward()
        total += loss.item()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(total)
            total = 0.0
    return losses
