"""Measures a run that is thrown away, and lets the optimizer build its state before it is loaded."""

import os

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


def save(run, path):
    torch.save([part.state_dict() for part in run.parts().values()], path)


def train(config):
    train_window(config.build(), [next(iter(config.micro_batches(0)))], 1.0)
    run, number = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        for parameter in run.model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        run.optimizer.step()
        for part, state in zip(run.parts().values(), torch.load(config.checkpoint)):
            part.load_state_dict(state)
    for epoch in range(config.epochs):
        pending, last = [], -(-config.lines // config.micro_batch_size)
        for k, micro_batch in enumerate(config.micro_batches(epoch), 1):
            pending.append(micro_batch)
            if k % config.accumulation_steps == 0 or k == last:
                number += 1
                if number > run.history.updates:
                    train_window(run, pending, config.max_norm)
                    if number == config.stop_after:
                        save(run, config.checkpoint)
                        return run.history
                pending = []
    return run.history
