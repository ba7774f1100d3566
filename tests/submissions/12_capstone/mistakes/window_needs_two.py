"""Takes the first and the last micro-batch out of the window, and so needs two."""

import torch
from torch.nn import functional as F

EXERCISE = "train_window"
MISTAKES = ()
LOST = ("uneven",)


def train_window(run, window, max_norm):
    for p in run.model.parameters():
        p.grad = None
    total, tokens = 0.0, 0
    first, *rest, last = window
    for x, y in (first, *rest, last):
        loss = F.cross_entropy(run.model(x).transpose(1, 2), y, reduction="sum", ignore_index=-100)
        loss.backward()
        total, tokens = total + float(loss), tokens + int((y >= 0).sum())
    for p in run.model.parameters():
        p.grad /= tokens
    norm = torch.nn.utils.clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total / tokens, norm, rate, tokens)
