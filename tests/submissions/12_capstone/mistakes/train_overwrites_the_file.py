"""Writes the checkpoint at the end of every call, also over the one that a later call would continue from."""

import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ()
LOST = ("resume",)
SAYS = ("config.checkpoint no longer holds what the run continued from.",)


def train_window(run, window, max_norm):
    run.optimizer.zero_grad()
    tokens = sum(tokens_in(y) for _, y in window)
    loss = 0.0
    for x, y in window:
        part = token_loss(run.model(x), y) * tokens_in(y) / tokens
        part.backward()
        loss += part.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm).item()
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(loss, norm, rate, tokens)


def train(config):
    run = config.build()
    if config.checkpoint is not None and os.path.exists(config.checkpoint):
        states = torch.load(config.checkpoint)
        for name, part in run.parts().items():
            part.load_state_dict(states[name])
    done = 0
    for epoch in range(config.epochs):
        stream = config.micro_batches(epoch)
        while window := list(islice(stream, config.accumulation_steps)):
            done += 1
            if done <= run.history.updates:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                return saved(run, config)
    return saved(run, config) if config.checkpoint else run.history


def saved(run, config):
    torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
    return run.history
