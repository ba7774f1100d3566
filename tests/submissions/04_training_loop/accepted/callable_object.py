"""train_epoch is an object with a __call__ method."""

from itertools import islice

EXERCISE = "train_epoch"


class Trainer:
    def __call__(self, model, loss_fn, optimizer, micro_batches, accumulation_steps):
        stream = iter(micro_batches)
        losses = []
        while window := list(islice(stream, accumulation_steps)):
            losses.append(self.window(model, loss_fn, optimizer, window))
        return losses

    @staticmethod
    def window(model, loss_fn, optimizer, window):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        return window_loss


train_epoch = Trainer()
