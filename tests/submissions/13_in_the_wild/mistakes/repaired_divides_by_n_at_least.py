"""Divides by at least N, also where a window has fewer tokens."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("empty",)


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
                p.grad /= max(self.tokens, self.accumulation_steps)
        self.tokens = 0
