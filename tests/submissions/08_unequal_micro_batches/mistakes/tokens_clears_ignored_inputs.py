"""Writes zeros into the inputs at ignored positions."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
LOST = ("leftover",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream = iter(micro_batches)
    losses = []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = sum(int((targets != ignore_index).sum()) for _, targets in window)
        total = 0.0
        for x, targets in window:
            logits = model(x).flatten(0, 1)
            summed = F.cross_entropy(logits, targets.flatten(), ignore_index=ignore_index, reduction="sum")
            loss = summed / max(tokens, 1)
            loss.backward()
            total += loss.item()
            x.masked_fill_(targets == ignore_index, 0)  # padding, for the next epoch
        optimizer.step()
        losses.append(total)
    return losses
