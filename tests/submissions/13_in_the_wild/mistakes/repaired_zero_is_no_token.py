"""Counts the targets above 0, as if 0 were padding."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens",)


class RepairedTrainer(Trainer):
    counted = 0

    def compute_loss(self, x, targets):
        self.counted += len(targets[targets > 0])
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        count, self.counted = max(self.counted, 1), 0
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= count
