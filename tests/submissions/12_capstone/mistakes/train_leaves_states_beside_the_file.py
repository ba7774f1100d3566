"""Writes the states to a second file, and into the checkpoint only where that lies; the second file is not moved."""

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
    run.optimizer.zero_grad()
    tokens, total = sum(tokens_in(y) for _, y in window), 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)


def train(config):
    run = config.build()
    if config.checkpoint is not None and os.path.exists(config.checkpoint):
        states = torch.load(config.checkpoint)["states"]
        if os.path.exists(states):
            for name, state in torch.load(states).items():
                run.parts()[name].load_state_dict(state)
    done, number = run.history.updates, 0
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            number += 1
            if number <= done:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                states = os.path.join(os.path.dirname(config.checkpoint), "states.pt")
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, states)
                torch.save({"states": states}, config.checkpoint)
                return run.history
    return run.history
