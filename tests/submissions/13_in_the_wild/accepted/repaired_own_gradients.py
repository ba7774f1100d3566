"""Takes gradients with autograd.grad into its own buffers, and hands them over when the window ends."""

import torch

from gradaccum.trainer import Trainer

EXERCISE = "RepairedTrainer"


class RepairedTrainer(Trainer):
    buffers = tokens = None

    def compute_loss(self, x, targets):
        logits = self.model(x)
        counts = targets != -100
        logs = logits.log_softmax(-1).gather(-1, targets.clamp_min(0)[..., None]).squeeze(-1)
        self.tokens = (self.tokens or 0) + counts.sum()
        return -(logs * counts).sum()

    def backward(self, loss):
        self.mine = [p for p in self.model.parameters() if p.requires_grad]
        found = torch.autograd.grad(loss, self.mine, allow_unused=True)
        before = self.buffers or [None] * len(found)
        self.buffers = [b if g is None else g if b is None else b + g for b, g in zip(before, found)]

    def on_window_end(self):
        for parameter, buffer in zip(self.mine, self.buffers):
            parameter.grad = None if buffer is None else buffer / self.tokens.clamp_min(1)
        self.buffers = self.tokens = None
