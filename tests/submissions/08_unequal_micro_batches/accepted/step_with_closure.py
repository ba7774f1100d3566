"""Hands the optimizer a closure that runs the window."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream = iter(micro_batches)
    losses = []
    while window := tuple(islice(stream, accumulation_steps)):
        tokens = max(1, sum(targets[targets != ignore_index].numel() for _, targets in window))

        def closure(window=window, tokens=tokens):
            optimizer.zero_grad()
            value = 0.0
            for x, targets in window:
                keep = targets != ignore_index
                if keep.any():
                    loss = F.cross_entropy(model(x)[keep], targets[keep], reduction="sum") / tokens
                    loss.backward()
                    value += loss.item()
            return value

        losses.append(optimizer.step(closure))
    return losses
