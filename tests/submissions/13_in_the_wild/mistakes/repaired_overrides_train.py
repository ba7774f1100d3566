"""Writes a right train, which nobody calls."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    def train(self):
        n, data = self.accumulation_steps, self.data
        for start in range(0, len(data), n):
            window = data[start : start + n]
            tokens = max(1, sum(int((targets != -100).sum()) for _, targets in window))
            for x, targets in window:
                logits = self.model(x).flatten(0, 1)
                (F.cross_entropy(logits, targets.flatten(), reduction="sum") / tokens).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
