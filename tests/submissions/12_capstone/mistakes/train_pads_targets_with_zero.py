"""Joins a window into one batch and pads targets with 0, as if padding were text."""

import os
from itertools import islice

import torch
from torch.nn.functional import pad
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ("one-big-batch",)
LOST = ("uneven", "budget")
SAYS = ("as far as it should, in another direction (cosine",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    width = max(x.shape[1] for x, _ in window)
    batches = (torch.cat([pad(one, (0, width - one.shape[1])) for one in several]) for several in zip(*window, strict=True))
    window = [tuple(batches)]
    tokens = sum(tokens_in(y) for _, y in window)
    total = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm).item()
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)


def train(config):
    run = config.build()
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)
    done, number = run.history.updates, 0
    for epoch in range(config.epochs):
        stream = config.micro_batches(epoch)
        while window := list(islice(stream, config.accumulation_steps)):
            number += 1
            if number <= done:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                torch.save({n: p.state_dict() for n, p in run.parts().items()}, config.checkpoint)
                return run.history
    return run.history
