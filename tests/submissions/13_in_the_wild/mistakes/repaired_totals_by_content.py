"""Looks up the window of a micro-batch by its targets, and finds that of the first that looks alike."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens",)


class RepairedTrainer(Trainer):
    def on_epoch_begin(self):
        n = self.accumulation_steps
        counts = [int((targets != -100).sum()) for _, targets in self.data]
        self.totals = [sum(counts[k - k % n : k - k % n + n]) for k in range(len(counts))]

    def compute_loss(self, x, targets):
        place = next(k for k, (_, t) in enumerate(self.data) if t.shape == targets.shape and bool((t == targets).all()))
        total = self.totals[place]
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum") / max(total, 1)

    def backward(self, loss):
        loss.backward()
