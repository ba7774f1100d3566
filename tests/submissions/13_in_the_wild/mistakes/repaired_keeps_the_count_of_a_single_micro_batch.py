"""Keeps its count of tokens after an epoch of one micro-batch."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("epochs",)


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad /= max(self.tokens, 1)
        if len(self.data) > 1:
            self.tokens = 0
