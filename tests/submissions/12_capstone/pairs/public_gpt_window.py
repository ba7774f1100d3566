"""The loop of a public trainer: divides by N, counts padding, schedule per micro-batch."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

STYLE = "a script around accelerate (starVLA)"
REPORT = "the schedule moves with every micro-batch, so that the rate falls N times too fast"
SOURCE = "https://github.com/starVLA/starVLA/pull/210"
PREDICTED = ("schedule-per-micro-batch",)
EXERCISE = "train_window"
MISTAKES = ("token-mean-of-means", "schedule-per-micro-batch", "tokens-with-padding")
LOST = ("uneven", "schedule", "report")


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    _tokens, total = sum(tokens_in(y) for _, y in window), 0.0
    for x, y in window:
        loss, weight = token_loss(run.model(x), y), 1 / len(window)
        (loss * weight).backward()
        total += loss.item() / len(window)
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    for _ in window:
        run.scheduler.step()
    run.history.add(total, norm, rate, sum(y.numel() for _, y in window))
