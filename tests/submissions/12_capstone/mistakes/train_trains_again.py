"""Keeps the thresholds only, and trains the whole run again with them to go on."""

import json
import os
from itertools import islice

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
        loss, weight = token_loss(run.model(x), y), tokens_in(y) / tokens
        (loss * weight).backward()
        total += loss.item() * weight
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)


def train(config):
    run, seen, norms = config.build(), 0, []
    if config.checkpoint and os.path.exists(config.checkpoint):
        with open(config.checkpoint) as file:
            norms = json.load(file)
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            if seen == len(norms):
                norms.append(config.max_norm)
            train_window(run, window, norms[seen])
            seen += 1
            if seen == config.stop_after:
                with open(config.checkpoint, "w") as file:
                    json.dump(norms, file)
                return run.history
    return run.history
