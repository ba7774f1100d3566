"""Writes down epoch and place, and jumps there."""

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


class Trainer:
    def __init__(self, config):
        self.config, self.run = config, config.build()
        self.epoch = self.place = 0

    def restore(self):
        saved = torch.load(self.config.checkpoint)
        self.epoch, self.place = saved["where"]
        self.run.model.load_state_dict(saved["model"])
        self.run.optimizer.load_state_dict(saved["optimizer"])
        self.run.scheduler.load_state_dict(saved["scheduler"])
        self.run.history.load_state_dict(saved["history"])

    def save(self):
        states = {name: part.state_dict() for name, part in self.run.parts().items()}
        torch.save({"where": (self.epoch, self.place), **states}, self.config.checkpoint)

    def go(self):
        for self.epoch in range(self.epoch, self.config.epochs):
            stream = config_windows(self.config, self.epoch)
            for window in islice(stream, self.place, None):
                train_window(self.run, window, self.config.max_norm)
                self.place += 1
                if self.run.history.updates == self.config.stop_after:
                    self.save()
                    return self.run.history
            self.place = 0
        return self.run.history


def config_windows(config, epoch):
    stream = iter(config.micro_batches(epoch))
    while window := list(islice(stream, config.accumulation_steps)):
        yield window


def train(config):
    trainer = Trainer(config)
    if config.checkpoint and os.path.exists(config.checkpoint):
        trainer.restore()
    return trainer.go()
