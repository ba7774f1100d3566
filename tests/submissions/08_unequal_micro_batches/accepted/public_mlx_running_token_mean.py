"""Keeps the token-weighted mean of the gradients seen so far in its window."""

import torch
from torch.nn import functional as F

STYLE = "a fine-tuning tool after its repair (mlx-lm)"
REPORT = "the mean of token means favours short samples; a running mean weighted by tokens does not"
SOURCE = "https://github.com/ml-explore/mlx-lm/pull/1413"
EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses, mean, tokens, mean_loss, held = [], None, 0, 0.0, 0

    def update():
        for p, g in zip(parameters, mean, strict=True):
            p.grad = g.clone()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(mean_loss)

    for x, targets in micro_batches:
        ntoks = int((targets != ignore_index).sum())
        ce = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
        loss = ce / max(ntoks, 1)
        grads = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
        share = ntoks / max(tokens + ntoks, 1)
        mean = list(grads) if mean is None else [m + share * (g - m) for m, g in zip(mean, grads, strict=True)]
        mean_loss += share * (loss.item() - mean_loss)
        tokens, held = tokens + ntoks, held + 1
        if held == accumulation_steps:
            update()
            mean, tokens, mean_loss, held = None, 0, 0.0, 0
    if held:
        update()
    return losses
