"""Takes gradients with autograd.grad into buffers of its own, and clips by hand."""

import torch

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"


def train_window(run, window, max_norm):
    parameters = list(run.model.parameters())
    sums = [torch.zeros_like(p) for p in parameters]
    tokens = sum(tokens_in(y) for _, y in window)
    mean = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * (tokens_in(y) / tokens)
        torch._foreach_add_(sums, torch.autograd.grad(loss, parameters))
        mean += loss.item()
    norm = torch.stack([g.norm() for g in sums]).norm()
    for p, g in zip(parameters, sums):
        p.grad = g * min(1.0, max_norm / (float(norm) + 1e-6))
    rate = run.scheduler.get_last_lr()[0]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, tokens)
