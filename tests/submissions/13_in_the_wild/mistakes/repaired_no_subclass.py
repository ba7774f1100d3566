"""Has what the library’s train calls, and is no subclass of Trainer."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ()
LOST = ("tokens", "leftover", "epochs", "empty")


class RepairedTrainer:
    counted = 0
    train, should_step, zero_grad = Trainer.train, Trainer.should_step, Trainer.zero_grad
    on_epoch_begin = Trainer.on_epoch_begin

    def __init__(self, model, optimizer, data, accumulation_steps, epochs=1):
        self.model, self.optimizer, self.data = model, optimizer, data
        self.accumulation_steps, self.epochs = accumulation_steps, epochs

    def compute_loss(self, x, targets):
        self.counted += len(targets[targets != -100])
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        count, self.counted = max(self.counted, 1), 0
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= count
