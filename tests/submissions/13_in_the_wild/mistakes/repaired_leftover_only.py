"""Divides by the micro-batches in the window, and leaves the mean of means."""

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("token-mean-of-means",)
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    count = 0

    def backward(self, loss):
        self.count += 1
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= self.count
        self.count = 0
