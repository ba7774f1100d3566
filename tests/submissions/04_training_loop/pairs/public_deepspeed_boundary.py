"""An engine counts micro-steps through all epochs and updates at multiples of N."""

STYLE = "a training engine (DeepSpeed)"
REPORT = "an incomplete window at the end of an epoch is not handled"
SOURCE = "https://github.com/deepspeedai/DeepSpeed/issues/7439"
PREDICTED = ("tail-stale",)
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-stale")
LOST = ("full", "leftover", "ragged", "clean", "losses")


class Engine:
    def __init__(self, model, optimizer, gradient_accumulation_steps):
        self.model, self.optimizer = model, optimizer
        self.gradient_accumulation_steps, self.micro_steps = gradient_accumulation_steps, 0

    def is_gradient_accumulation_boundary(self):
        return (self.micro_steps + 1) % self.gradient_accumulation_steps == 0

    def backward(self, loss):
        (loss / self.gradient_accumulation_steps).backward()

    def step(self):
        boundary = self.is_gradient_accumulation_boundary()
        if boundary:
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.micro_steps += 1
        return boundary


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    if not hasattr(optimizer, "engine"):  # made once, for all epochs
        optimizer.engine = Engine(model, optimizer, accumulation_steps)
    engine = optimizer.engine
    losses, total = [], 0.0
    for x, y in micro_batches:
        loss = loss_fn(engine.model(x), y)
        engine.backward(loss)
        total += loss.item() / accumulation_steps
        if engine.step():
            losses.append(total)
            total = 0.0
    return losses
