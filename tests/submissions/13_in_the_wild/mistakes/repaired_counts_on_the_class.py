"""Counts on the class, so that two trainers have one count."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("epochs",)


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        RepairedTrainer.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(1, RepairedTrainer.tokens)
        RepairedTrainer.tokens = 0
