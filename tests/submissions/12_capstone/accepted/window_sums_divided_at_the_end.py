"""Sums losses over tokens and divides the gradients at the end."""

import torch
from torch.nn import functional as F

EXERCISE = "train_window"


def train_window(run, window, max_norm):
    for p in run.model.parameters():
        p.grad = None
    total, tokens = 0.0, 0
    for x, y in window:
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
