"""Makes no update in an epoch that is shorter than a window."""

from torch.nn import functional as F

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"
MISTAKES = ("short-epoch-no-step",)
LOST = ("leftover", "epochs")


class RepairedTrainer(Trainer):
    tokens = 0

    def compute_loss(self, x, targets):
        self.tokens += int((targets != -100).sum())
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")

    def backward(self, loss):
        loss.backward()

    def on_window_end(self):
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(1, self.tokens)
        self.tokens = 0

    def should_step(self, index):
        return super().should_step(index) and index + 1 >= min(self.accumulation_steps, len(self.data) + 1)
