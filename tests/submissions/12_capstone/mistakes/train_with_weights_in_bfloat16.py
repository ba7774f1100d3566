"""Converts the model to bfloat16 before it trains."""

import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ()
LOST = ("even", "uneven", "budget", "resume", "report")
SAYS = ("Your function changed the dtype of parameters or buffers.",)


def train_window(run, window, max_norm):
    tokens = sum(int(tokens_in(y)) for _, y in window)
    run.model.train()
    run.optimizer.zero_grad()
    mean = 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * (int(tokens_in(y)) / tokens)
        loss.backward()
        mean += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm).item()
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, tokens)


def load_if_there(run, config):
    if config.checkpoint is not None and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)


def save(run, config):
    torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)


def train(config):
    run = config.build()
    run.model.to(torch.bfloat16)
    load_if_there(run, config)
    seen = 0
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= run.history.updates:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                save(run, config)
                return run.history
    return run.history
