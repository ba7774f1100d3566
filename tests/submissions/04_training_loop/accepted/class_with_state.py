"""Keeps the state of a window in an object; the function only drives it."""

EXERCISE = "train_epoch"


class Accumulator:
    def __init__(self, model, loss_fn, optimizer, steps):
        self.model, self.loss_fn, self.optimizer, self.steps = model, loss_fn, optimizer, steps
        self.losses = []
        self._restart()

    def feed(self, x, y):
        loss = self.loss_fn(self.model(x), y) * len(x)
        loss.backward()
        self.total += loss.item()
        self.samples += len(x)
        self.count += 1
        if self.count == self.steps:
            self.finish()

    def finish(self):
        if self.count:
            for p in self.model.parameters():
                if p.grad is not None:
                    p.grad /= self.samples
            self.optimizer.step()
            self.losses.append(self.total / self.samples)
            self._restart()

    def _restart(self):
        self.optimizer.zero_grad()
        self.total, self.samples, self.count = 0.0, 0, 0


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    accumulator = Accumulator(model, loss_fn, optimizer, accumulation_steps)
    for x, y in micro_batches:
        accumulator.feed(x, y)
    accumulator.finish()
    return accumulator.losses
