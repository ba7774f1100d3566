"""Overrides nothing."""

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("token-mean-of-means", "tail-scale")
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    pass
