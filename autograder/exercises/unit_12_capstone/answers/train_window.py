"""Weights each micro-batch's loss by its share of the tokens.

Adds up sums over tokens and divides `.grad` before it is clipped.
"""

from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.text import IGNORE, tokens_in


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    total, tokens = 0.0, 0
    for x, y in window:
        loss = F.cross_entropy(run.model(x).transpose(1, 2), y, reduction="sum", ignore_index=IGNORE)
        loss.backward()
        total, tokens = total + float(loss), tokens + tokens_in(y)
    for p in run.model.parameters():
        p.grad /= tokens
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total / tokens, norm, rate, tokens)
