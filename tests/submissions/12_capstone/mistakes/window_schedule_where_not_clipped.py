"""Moves the schedule only after updates that were not clipped."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
LOST = ("schedule",)


def train_window(run, window, max_norm):
    total = sum(tokens_in(y) for _, y in window)
    run.optimizer.zero_grad()
    mean = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * (tokens_in(y) / total)
        loss.backward()
        mean += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm).item()
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    if norm <= max_norm:
        run.scheduler.step()
    run.history.add(mean, norm, rate, total)
