"""Leaves the losses as they are, and updates only when a window is full."""

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("token-mean-of-means", "tail-dropped")
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer(Trainer):
    def should_step(self, index):
        return (index + 1) % self.accumulation_steps == 0

    def on_epoch_begin(self):
        self.optimizer.zero_grad()
