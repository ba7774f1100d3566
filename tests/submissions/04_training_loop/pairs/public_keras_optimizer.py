"""An optimizer around the optimizer gathers gradients and applies their mean at every N-th call."""

STYLE = "an optimizer that accumulates, as written for Keras"
REPORT = "an update only follows once enough is gathered, so the last batches of an epoch are ignored"
SOURCE = "https://github.com/tomhosking/torchseq/issues/8"
PREDICTED = ("tail-dropped",)
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-dropped")
LOST = ("leftover", "ragged", "losses")


class GradientAccumulator:
    def __init__(self, optimizer, accum_steps):
        self.optimizer, self.accum_steps, self.calls = optimizer, accum_steps, 0
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.gradients = [None] * len(self.parameters)

    def apply_gradients(self):
        self.calls += 1
        for k, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                gathered = self.gradients[k]
                self.gradients[k] = parameter.grad if gathered is None else gathered + parameter.grad
                parameter.grad = None
        if self.calls % self.accum_steps:
            return False
        for parameter, gathered in zip(self.parameters, self.gradients, strict=True):
            parameter.grad = None if gathered is None else gathered / self.accum_steps
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.gradients = [None] * len(self.parameters)
        return True


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    accumulator, losses, seen = GradientAccumulator(optimizer, accumulation_steps), [], []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        if accumulator.apply_gradients():
            losses.append(sum(seen) / len(seen))
            seen = []
    return losses
