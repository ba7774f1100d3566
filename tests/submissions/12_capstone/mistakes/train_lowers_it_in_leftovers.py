"""Lowers the threshold in a leftover window."""

import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ()
LOST = ("uneven",)


def train_window(run, window, max_norm):
    total = sum(tokens_in(y) for _, y in window)
    run.optimizer.zero_grad()
    mean = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * (tokens_in(y) / total)
        loss.backward()
        mean += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm).item()
    rate = run.scheduler.get_last_lr()[0]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, total)


def train(config):
    run = config.build()
    if config.checkpoint is not None and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)
    done, seen = run.history.updates, 0
    for epoch in range(config.epochs):
        stream = config.micro_batches(epoch)
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= done:
                continue
            train_window(run, window, config.max_norm * len(window) / config.accumulation_steps)
            if run.history.updates == config.stop_after:
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
                return run.history
    return run.history
