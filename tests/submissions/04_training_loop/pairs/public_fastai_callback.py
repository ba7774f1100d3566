"""A callback cancels the rest of a batch, its update and clear included, until N have been through backward."""

STYLE = "a learner with callbacks (fastai)"
REPORT = "losses are not divided by the number of batches gathered, so gradients are too large"
SOURCE = "https://github.com/fastai/fastai/issues/3023"
PREDICTED = ("no-scale",)
EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "tail-stale")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


class CancelBatchError(Exception):
    pass


class GradientAccumulation:
    def __init__(self, n_acc):
        self.n_acc, self.count = n_acc, 0

    def after_backward(self):
        self.count += 1
        if self.count < self.n_acc:
            raise CancelBatchError
        self.count = 0


class Learner:
    def __init__(self, model, loss_func, opt, callback):
        self.model, self.loss_func, self.opt, self.callback = model, loss_func, opt, callback
        self.losses = []

    def one_batch(self, xb, yb):
        self.loss = self.loss_func(self.model(xb), yb)
        self.loss.backward()
        self.callback.after_backward()
        self.opt.step()
        self.opt.zero_grad()
        self.losses.append(self.loss.item())

    def fit(self, batches):
        for xb, yb in batches:
            try:
                self.one_batch(xb, yb)
            except CancelBatchError:
                continue


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    learner = Learner(model, loss_fn, optimizer, GradientAccumulation(accumulation_steps))
    learner.fit(micro_batches)
    return learner.losses
