"""Stops at the first window without tokens."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("bare",)
SAYS = ("What comes after the window without tokens is not trained on, as if your loop stopped there.",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        tokens = sum(int((targets != ignore_index).sum()) for _, targets in window)
        if not tokens:
            losses.append(0.0)
            break
        optimizer.zero_grad()
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            (loss / max(tokens, 1)).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / max(tokens, 1))
    return losses
