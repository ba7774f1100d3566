"""Moves the schedule in windows that are as long as the longest so far, so leftovers do not move it."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ()
LOST = ("schedule",)

longest = {}


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens, total = sum(tokens_in(y) for _, y in window), 0.0
    for x, y in window:
        loss, weight = token_loss(run.model(x), y), tokens_in(y) / tokens
        (loss * weight).backward()
        total += loss.item() * weight
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    longest[id(run)] = max(longest.get(id(run), 0), len(window))
    if len(window) == longest[id(run)]:
        run.scheduler.step()
    run.history.add(total, norm, rate, tokens)
