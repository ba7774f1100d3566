"""Divides each micro-batch by the tokens of its window that have been counted by then."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        (loss / max(1, self.tokens)).backward()

    def on_window_end(self):
        self.tokens = 0
