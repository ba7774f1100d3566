"""An update after every micro-batch."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ("step-every",)
LOST = ("full", "uneven", "clip", "schedule", "report")


def train_window(run, window, max_norm):
    tokens, total = sum(tokens_in(y) for _, y in window), 0.0
    for x, y in window:
        run.optimizer.zero_grad()
        loss = token_loss(run.model(x), y)
        loss.backward()
        norm = clip_grad_norm_(run.model.parameters(), max_norm)
        rate = run.optimizer.param_groups[0]["lr"]
        run.optimizer.step()
        total += loss.item() * tokens_in(y) / tokens
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)
