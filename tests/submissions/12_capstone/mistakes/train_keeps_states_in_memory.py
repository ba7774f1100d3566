"""Writes an empty file and keeps the states in a dictionary."""

import copy
import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ("resume-starts-over",)
LOST = ("resume",)


def train_window(run, window, max_norm):
    parameters = list(run.model.parameters())
    sums = [torch.zeros_like(p) for p in parameters]
    tokens = sum(tokens_in(y) for _, y in window)
    mean = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * (tokens_in(y) / tokens)
        torch._foreach_add_(sums, torch.autograd.grad(loss, parameters))
        mean += loss.item()
    for p, g in zip(parameters, sums):
        p.grad = g
    norm = clip_grad_norm_(parameters, max_norm)
    rate = run.scheduler.get_last_lr()[0]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, tokens)


KEPT = {}


def train(config):
    run, seen = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in KEPT.items():
            run.parts()[name].load_state_dict(state)
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= run.history.updates:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                KEPT.update({name: copy.deepcopy(part.state_dict()) for name, part in run.parts().items()})
                torch.save(0, config.checkpoint)
                return run.history
    return run.history
