"""Looks up the totals of each epoch, by a number of the window that is not set back when an epoch begins."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("epochs",)


class RepairedTrainer(Trainer):
    window = 0

    def on_epoch_begin(self):
        n, counts = self.accumulation_steps, [int((targets != -100).sum()) for _, targets in self.data]
        self.totals = [max(1, sum(counts[k : k + n])) for k in range(0, len(counts), n)]

    def compute_loss(self, x, targets):
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= self.totals[self.window % len(self.totals)]
        self.window += 1
