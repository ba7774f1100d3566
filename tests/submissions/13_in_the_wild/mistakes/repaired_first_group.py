"""Divides the gradients of the optimizer's first group only."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens",)


class RepairedTrainer(Trainer):
    tokens = 0

    def on_epoch_begin(self):
        self.tokens = 0
        self.optimizer.zero_grad()

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for group in self.optimizer.param_groups[:1]:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad /= max(self.tokens, 1)
        self.tokens = 0
