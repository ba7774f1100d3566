"""Runs all micro-batches of a window through the model before it computes a loss."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("one-big-batch",)
LOST = ("tokens",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        outputs, total = [model(x) for x, _ in window], 0.0
        for _, targets in window:
            predictions = outputs.pop(0).flatten(0, 1)
            loss = F.cross_entropy(predictions, targets.flatten(), ignore_index=ignore_index, reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
