"""Divides by N and updates whenever the number of the batch is a multiple of N."""

STYLE = "a book's fine-tuning script (LLMs from scratch)"
REPORT = "the very first batch makes an update, and the last window is lost unless N divides the epoch"
SOURCE = "https://github.com/rasbt/LLMs-from-scratch/issues/299"
PREDICTED = ("off-by-one-early", "tail-stale")
EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early", "mean-of-means", "tail-stale")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for batch_idx, (inputs, target) in enumerate(micro_batches):
        loss = loss_fn(model(inputs), target)
        loss /= accumulation_steps
        loss.backward()
        if batch_idx % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item() * accumulation_steps)
    return losses
