"""Weighs the means of micro-batches by their sequences."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("sequences-for-tokens",)
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    sequences = 0

    def compute_loss(self, x, targets):
        self.sequences += len(targets)
        tokens = (targets != -100).sum().clamp(min=1)
        loss = F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")
        return loss / tokens * len(targets)

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= self.sequences
        self.sequences = 0
