"""Divides the gradients of the optimizer's first group of parameters only."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("tokens", "leftover")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            loss.backward()
            total += loss.item()
        for p in optimizer.param_groups[0]["params"]:
            if p.grad is not None:
                p.grad /= tokens
        optimizer.step()
        losses.append(total / tokens)
    return losses
