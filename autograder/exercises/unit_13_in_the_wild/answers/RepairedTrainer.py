"""Counts tokens as they come and divides the gradient when the window ends.

Counts the tokens of all windows when the epoch begins, and divides each loss.
"""

from torch.nn import functional as F

from gradaccum.trainer import Trainer


class RepairedTrainer(Trainer):
    def on_epoch_begin(self):
        n = self.accumulation_steps
        counts = [int(targets.ne(-100).sum()) for _, targets in self.data]
        self.totals = [max(1, sum(counts[k // n * n : k // n * n + n])) for k in range(len(counts))]
        self.done = 0

    def compute_loss(self, x, targets):
        logits = self.model(x).flatten(0, 1)
        return F.cross_entropy(logits, targets.flatten(), reduction="sum") / self.totals[self.done]

    def backward(self, loss):
        loss.backward()
        self.done += 1
