"""Looks up all totals when it is made, and keeps those of the first epoch."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("epochs",)


class RepairedTrainer(Trainer):
    def __init__(self, model, optimizer, data, accumulation_steps, epochs=1):
        super().__init__(model, optimizer, data, accumulation_steps, epochs)
        n, counts = accumulation_steps, [int((targets != -100).sum()) for _, targets in data]
        self.totals = [max(1, sum(counts[k // n * n : k // n * n + n])) for k in range(len(counts))]

    def on_epoch_begin(self):
        self.index = -1

    def compute_loss(self, x, targets):
        self.index += 1
        loss = F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")
        return loss / self.totals[self.index % len(self.totals)]

    def backward(self, loss):
        loss.backward()
