"""Measures the loss once more, after the update."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ("loss-after-update",)
LOST = ("report",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens = sum(tokens_in(y) for _, y in window)
    for x, y in window:
        loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
        loss.backward()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    with torch.no_grad():
        total = sum(token_loss(run.model(x), y).item() * tokens_in(y) for x, y in window) / tokens
    run.history.add(total, norm, rate, tokens)
