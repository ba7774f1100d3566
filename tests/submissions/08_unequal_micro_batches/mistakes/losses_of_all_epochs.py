"""Appends to a list that is kept from call to call."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("losses",)
SAYS = ("The list of each epoch begins with that of the epoch before.",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100, losses=[]):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        tokens = sum(int((targets != ignore_index).sum()) for _, targets in window)
        optimizer.zero_grad()
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            (loss / max(tokens, 1)).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / max(tokens, 1))
    return losses
