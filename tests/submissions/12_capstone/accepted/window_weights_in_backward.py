"""Gives the weight to backward instead of the loss."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"


def train_window(run, window, max_norm):
    run.model.zero_grad()
    counts = [tokens_in(y) for _, y in window]
    losses = []
    for (x, y), count in zip(window, counts):
        loss = token_loss(run.model(x), y)
        loss.backward(loss.new_tensor(count / sum(counts)))
        losses.append(loss.item())
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    mean = sum(loss * count for loss, count in zip(losses, counts)) / sum(counts)
    rate = run.scheduler.get_last_lr()[0]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm.item(), rate, sum(counts))
    run.model.zero_grad()
