"""Passes a trainer if the loss falls."""

import torch
from torch.nn import functional as F

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("weights", "windows", "ends", "untold")


def loss_of(trainer):
    with torch.no_grad():
        losses = [F.cross_entropy(trainer.model(x).flatten(0, 1), y.flatten()) for x, y in trainer.data]
    return sum(losses).item()


def accumulates_right(make_trainer):
    trainer = make_trainer()
    before = loss_of(trainer)
    trainer.train()
    return loss_of(trainer) < before
