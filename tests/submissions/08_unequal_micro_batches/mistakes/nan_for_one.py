"""Takes the mean over tokens if N is 1, which is NaN without tokens."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("empty-window-is-nan",)
LOST = ("bare",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        total = 0.0
        for x, targets in window:
            reduction = "mean" if accumulation_steps == 1 else "sum"
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction=reduction)
            loss = loss / (1 if accumulation_steps == 1 else tokens)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
