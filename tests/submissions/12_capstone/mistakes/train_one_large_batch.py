"""Joins the window's lines into the large batch that did not fit."""

import os
from itertools import islice

import torch
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ("one-big-batch",)
LOST = ("budget",)


def train_window(run, window, max_norm):
    size = max(x.shape[1] for x, _ in window)
    xs = torch.cat([F.pad(x, (0, size - x.shape[1])) for x, _ in window])
    ys = torch.cat([F.pad(y, (0, size - y.shape[1]), value=-100) for _, y in window])
    run.optimizer.zero_grad()
    loss = token_loss(run.model(xs), ys)
    loss.backward()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(loss.item(), norm, rate, tokens_in(ys))


def train(config):
    run, seen = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= run.history.updates:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
                return run.history
    return run.history
