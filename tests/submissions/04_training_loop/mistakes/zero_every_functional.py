"""Takes gradients with torch.func and assigns each micro-batch's to p.grad where it should be added."""

from itertools import islice

from torch.func import functional_call, grad_and_value

EXERCISE = "train_epoch"
MISTAKES = ("zero-every",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    def loss_of(weights, x, y):
        return loss_fn(functional_call(model, weights, (x,)), y)

    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            weights = {name: p.detach() for name, p in model.named_parameters()}
            gradients, loss = grad_and_value(loss_of)(weights, x, y)
            for name, p in model.named_parameters():
                p.grad = gradients[name] * len(x) / samples
            window_loss += loss.item() * len(x) / samples
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
