"""Updates after each micro-batch, whose loss is divided by N all the same."""

import os

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ("step-every",)
LOST = ("even", "uneven", "budget", "resume", "report")


def load_if_there(run, config):
    if config.checkpoint is not None and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)


def save(run, config):
    torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)


def train(config):
    run = config.build()
    load_if_there(run, config)
    seen = 0
    for epoch in range(config.epochs):
        for x, y in config.micro_batches(epoch):
            seen += 1
            if seen <= run.history.updates:
                continue
            run.optimizer.zero_grad()
            loss = token_loss(run.model(x), y) / config.accumulation_steps
            loss.backward()
            norm = clip_grad_norm_(run.model.parameters(), config.max_norm).item()
            rate = run.optimizer.param_groups[0]["lr"]
            run.optimizer.step()
            run.scheduler.step()
            run.history.add(loss.item(), norm, rate, int(tokens_in(y)))
            if run.history.updates == config.stop_after:
                save(run, config)
                return run.history
    return run.history
