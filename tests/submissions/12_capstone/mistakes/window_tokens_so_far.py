"""Divides by the tokens of the window so far, because it counts them on the way."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ()
LOST = ("full", "uneven", "clip", "schedule", "report")


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens, mean = 0, 0.0
    for x, y in window:
        tokens += tokens_in(y)
        loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
        loss.backward()
        mean += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, tokens)
