"""Computes the shares of the micro-batches in float32, whatever the model has."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ()
LOST = ("full",)


def train_window(run, window, max_norm):
    counts = torch.tensor([tokens_in(y) for _, y in window], dtype=torch.float32)
    tokens, total = int(counts.sum()), 0.0
    run.optimizer.zero_grad()
    for share, (x, y) in zip(counts / tokens, window, strict=True):
        loss = token_loss(run.model(x), y) * share
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)
