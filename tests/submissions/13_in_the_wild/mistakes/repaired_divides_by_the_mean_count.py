"""Divides by the mean number of tokens of a window's micro-batches, and not by all of them."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("no-scale",)
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    tokens, count = 0, 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        self.count += 1
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for p in self.model.parameters():
            if p.grad is not None and self.tokens:
                p.grad /= self.tokens / self.count
        self.tokens = self.count = 0
