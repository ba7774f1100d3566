"""Counts the tokens of the epoch first, after which nothing is left of a stream."""

from torch.nn import functional as F

from gradaccum.loops import windows

EXERCISE = "train_epoch_tokens"
MISTAKES = ("stream-used-up",)
LOST = ("leftover", "empty")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    print(sum(int((targets != ignore_index).sum()) for _, targets in micro_batches), "tokens")
    means = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        count = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        mean = 0.0
        for x, targets in window:
            flat = model(x).flatten(0, 1), targets.flatten()
            loss = F.cross_entropy(*flat, ignore_index=ignore_index, reduction="sum") / count
            loss.backward()
            mean += loss.item()
        optimizer.step()
        means.append(mean)
    return means
