"""Turns the model that it is given into float64."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens",)


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        self.model.double()
        self.tokens += (targets != -100).sum().item()
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(1, self.tokens)
        self.tokens = 0
