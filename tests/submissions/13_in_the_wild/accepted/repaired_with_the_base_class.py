"""Keeps the mean and the division of the library, and makes up for both."""

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"


class RepairedTrainer(Trainer):
    seen = 0

    def compute_loss(self, x, targets):
        tokens = int((targets != -100).sum())
        self.seen += tokens
        mean = super().compute_loss(x, targets) if tokens else self.model(x).sum() * 0
        return mean * tokens

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad *= self.accumulation_steps / max(1, self.seen)
        self.seen = 0
