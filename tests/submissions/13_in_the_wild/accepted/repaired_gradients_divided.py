"""Adds up sums over tokens, and divides gradients when the window ends."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.div_(max(self.tokens, 1))
        self.tokens = 0
