"""Writes another number over the padding of the targets that it is given."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("empty",)


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        counts = targets != -100
        self.tokens += int(counts.sum())
        targets[~counts] = 0
        losses = F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="none")
        return (losses * counts.flatten()).sum()

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(1, self.tokens)
        self.tokens = 0
