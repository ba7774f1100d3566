"""Clears at the beginning of the block; the wrapped optimizer does so only where it will update."""

from contextlib import contextmanager

STYLE = "the documentation of a training wrapper (accelerate)"
REPORT = "clearing first discards what the window has gathered"
SOURCE = "https://github.com/huggingface/accelerate/issues/616"
PREDICTED = ("zero-every",)
EXERCISE = "train_epoch"
MISTAKES = ("zero-every", "mean-of-means", "tail-scale", "loss-of-last")
LOST = ("full", "leftover", "ragged", "stream", "losses")


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
    accelerator, losses = Accelerator(model, optimizer, accumulation_steps), []
    for inputs, targets in accelerator.batches(micro_batches):
        with accelerator.accumulate():
            accelerator.zero_grad()
            loss = loss_fn(model(inputs), targets)
            accelerator.backward(loss)
            accelerator.step()
            if accelerator.sync_gradients:
                losses.append(loss.item())
    return losses
