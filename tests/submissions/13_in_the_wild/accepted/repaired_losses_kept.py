"""Keeps the sums of a window as numbers of its graph, and backpropagates their mean at its end."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"


class RepairedTrainer(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sums, self.tokens = [], 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        self.sums.append(loss)

    def on_window_end(self):
        (sum(self.sums) / max(1, self.tokens)).backward()
        self.sums, self.tokens = [], 0
