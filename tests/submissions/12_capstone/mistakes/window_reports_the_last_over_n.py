"""Reports the loss of the last micro-batch, divided by N: its share, if all had equally many tokens."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"
MISTAKES = ()
LOST = ("report",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens = sum(tokens_in(y) for _, y in window)
    for x, y in window:
        loss = token_loss(run.model(x), y)
        (loss * tokens_in(y) / tokens).backward()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(loss.item() / len(window), norm, rate, tokens)
