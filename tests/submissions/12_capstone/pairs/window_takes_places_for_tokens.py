"""Takes the places of a window for its tokens, in the mean and in the report."""

import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.text import IGNORE

EXERCISE = "train_window"
MISTAKES = ("padding-counted", "tokens-with-padding")
LOST = ("uneven", "report")


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens, total = sum(y.numel() for _, y in window), 0.0
    for x, y in window:
        loss = F.cross_entropy(run.model(x).flatten(0, 1), y.flatten(), ignore_index=IGNORE, reduction="sum") / tokens
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)
