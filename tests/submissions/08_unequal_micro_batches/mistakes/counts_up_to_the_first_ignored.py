"""Takes the first ignored target of a sequence for its end, so a question ends the sequence that answers it."""

from itertools import islice

import torch.nn.functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("leftover",)


def answers(targets, ignore_index):
    """The targets with everything behind the first ignored one ignored."""
    ended = (targets == ignore_index).cumsum(1) > 0
    return targets.masked_fill(ended, ignore_index)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    losses = []
    stream = iter(micro_batches)
    while window := [(x, answers(y, ignore_index)) for x, y in islice(stream, accumulation_steps)]:
        tokens = max(1, sum(int((y != ignore_index).sum()) for _, y in window))
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=ignore_index, reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
