"""Takes an ignore index of 0 for none at all. No named mistake."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("ignore",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    ignore_index = ignore_index or -100
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        total = 0.0
        for x, targets in window:
            logits, targets = model(x).flatten(0, 1), targets.flatten()
            loss = F.cross_entropy(logits, targets, ignore_index=ignore_index, reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses
