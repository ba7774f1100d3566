"""All windows of all epochs as one stream, of which the used ones are skipped."""

import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"


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


def windows(config):
    for epoch in range(config.epochs):
        stream = config.micro_batches(epoch)
        yield from iter(lambda: list(islice(stream, config.accumulation_steps)), [])


def train(config):
    run = config.build()
    if config.checkpoint and os.path.exists(config.checkpoint):
        saved = torch.load(config.checkpoint, map_location=config.device)
        for name, part in run.parts().items():
            part.load_state_dict(saved[name])
    for window in islice(windows(config), run.history.updates, None):
        train_window(run, window, config.max_norm)
        if run.history.updates == config.stop_after:
            torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
            break
    return run.history
