"""Lets hooks on the parameters divide each gradient by the window's tokens."""

from itertools import islice

from torch import nn

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    share = [1.0]
    handles = [p.register_hook(lambda g: g * share[0]) for p in model.parameters() if p.requires_grad]
    criterion = nn.CrossEntropyLoss(ignore_index=ignore_index, reduction="sum")
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        share[0] = 1 / max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        value = 0.0
        for x, targets in window:
            loss = criterion(model(x).flatten(0, 1), targets.flatten())
            loss.backward()
            value += loss.item() * share[0]
        optimizer.step()
        losses.append(value)
    for handle in handles:
        handle.remove()
    return losses
