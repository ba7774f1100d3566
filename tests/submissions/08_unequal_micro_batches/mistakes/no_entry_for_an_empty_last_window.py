"""Its list has no entry for a last window that is empty."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("bare",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream = iter(micro_batches)
    losses = []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = sum(int((y != ignore_index).sum()) for _, y in window)
        total = 0.0
        for x, y in window:
            logits = model(x).flatten(0, 1)
            loss = F.cross_entropy(logits, y.flatten(), ignore_index=ignore_index, reduction="sum") / max(tokens, 1)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses[:-1] if len(losses) > 1 and losses[-1] == 0 else losses
