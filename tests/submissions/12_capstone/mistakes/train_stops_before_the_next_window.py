"""Asks whether to stop before the next window, so a stop after the last update saves nothing."""

import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ()
LOST = ("resume",)
SAYS = ("The second of these stops is at the last update of the run.",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens, total = sum(tokens_in(y) for _, y in window), 0.0
    for x, y in window:
        loss, weight = token_loss(run.model(x), y), tokens_in(y) / tokens
        (loss * weight).backward()
        total += loss.item() * weight
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)


def train(config):
    run, seen = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)
    done = run.history.updates
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= done:
                continue
            if config.stop_after and run.history.updates >= config.stop_after:
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
                return run.history
            train_window(run, window, config.max_norm)
    return run.history
