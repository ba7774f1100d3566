"""Divides by nothing, and updates only when a window is full."""

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("no-scale", "tail-dropped")
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    def backward(self, loss):
        loss.backward()

    def should_step(self, index):
        return (index + 1) % self.accumulation_steps == 0

    def on_epoch_begin(self):
        self.optimizer.zero_grad()
