"""A class with state behind the function."""

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


class Window:
    """What has been added up since the last update."""

    def __init__(self, model, optimizer, ignore_index):
        self.model, self.optimizer, self.ignore_index = model, optimizer, ignore_index
        self.losses = []
        self.begin()

    def begin(self):
        self.optimizer.zero_grad()
        self.count, self.tokens, self.loss = 0, 0, 0.0

    def add(self, x, targets):
        logits = self.model(x).flatten(0, 1)
        loss = F.cross_entropy(logits, targets.flatten(), ignore_index=self.ignore_index, reduction="sum")
        loss.backward()
        self.count += 1
        self.tokens += int((targets != self.ignore_index).sum())
        self.loss += loss.item()

    def end(self):
        if self.count == 0:
            return
        if self.tokens:  # else there is nothing to apply
            for p in self.model.parameters():
                if p.grad is not None:
                    p.grad.div_(self.tokens)
            self.optimizer.step()
        self.losses.append(self.loss / max(self.tokens, 1))
        self.begin()


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    window = Window(model, optimizer, ignore_index)
    for x, targets in micro_batches:
        window.add(x, targets)
        if window.count == accumulation_steps:
            window.end()
    window.end()
    return window.losses
