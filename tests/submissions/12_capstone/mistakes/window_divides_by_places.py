"""Divides the sum over the tokens by all places, padding included."""

import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.text import IGNORE, tokens_in

EXERCISE = "train_window"
MISTAKES = ("padding-counted",)
LOST = ("uneven",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens, places, total = sum(tokens_in(y) for _, y in window), sum(y.numel() for _, y in window), 0.0
    for x, y in window:
        losses = F.cross_entropy(run.model(x).flatten(0, 1), y.flatten(), ignore_index=IGNORE, reduction="sum")
        (losses / places).backward()
        total += losses.item() / tokens
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)
