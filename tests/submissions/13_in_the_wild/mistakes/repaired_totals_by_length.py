"""Counts the tokens of its windows again only where an epoch is not as long as the one before."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("epochs",)


class RepairedTrainer(Trainer):
    def on_epoch_begin(self):
        self.window, n = 0, self.accumulation_steps
        if len(self.data) != getattr(self, "known", None):
            self.known = len(self.data)
            counts = [int((targets != -100).sum()) for _, targets in self.data]
            self.totals = [sum(counts[start : start + n]) for start in range(0, len(counts), n)]

    def compute_loss(self, x, targets):
        loss = F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")
        return loss / max(1, self.totals[self.window])

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        self.window += 1
