"""Runs the model under autocast, which a model in float64 does not notice."""

import torch
from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens",)


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            logits = self.model(x)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(1, self.tokens)
        self.tokens = 0
