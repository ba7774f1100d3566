"""Updates at every N-th batch and at the end of the loader, every loss over N."""

from contextlib import contextmanager

STYLE = "a training wrapper, or a script that flushes at the end (accelerate, Samudra)"
REPORT = "the last update uses losses divided by N, although fewer batches are left"
SOURCE = "https://github.com/m2lines/Samudra/pull/476"
PREDICTED = ("tail-scale",)
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-scale", "loss-mean-of-means")
LOST = ("leftover", "ragged", "losses")


class Accelerator:
    """Knows whether gradients are to be used now: at every N-th batch and at the last one of the loader."""

    def __init__(self, model, optimizer, steps):
        self.model, self.optimizer, self.steps = model, optimizer, steps
        self.step_count, self.sync_gradients = 0, True

    def batches(self, loader):
        stream = iter(loader)
        following = next(stream, None)
        while following is not None:
            batch, following = following, next(stream, None)
            self.end_of_loader = following is None
            yield batch

    @contextmanager
    def accumulate(self):
        self.step_count = 0 if self.end_of_loader else self.step_count + 1
        self.sync_gradients = self.end_of_loader or self.step_count % self.steps == 0
        yield

    def backward(self, loss):
        (loss / self.steps).backward()

    def step(self):
        if self.sync_gradients:
            self.optimizer.step()

    def zero_grad(self):
        if self.sync_gradients:
            self.optimizer.zero_grad()


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    accelerator, losses, seen = Accelerator(model, optimizer, accumulation_steps), [], []
    optimizer.zero_grad()
    for inputs, targets in accelerator.batches(micro_batches):
        with accelerator.accumulate():
            loss = loss_fn(model(inputs), targets)
            seen.append(loss.item())
            accelerator.backward(loss)
            accelerator.step()
            accelerator.zero_grad()
        if accelerator.sync_gradients:
            losses.append(sum(seen) / len(seen))
            seen = []
    return losses
