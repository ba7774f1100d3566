"""Reports how many positions the last micro-batch has, padding included."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ("tokens-with-padding", "tokens-of-last")
LOST = ("report",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens = sum(tokens_in(y) for _, y in window)
    total = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, y.numel())
