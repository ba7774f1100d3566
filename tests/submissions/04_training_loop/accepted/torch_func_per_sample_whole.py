"""Takes the gradients of all samples of a micro-batch at once with vmap, and sums them."""

from itertools import islice

from torch.func import functional_call, grad_and_value, vmap

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    def sample_loss(weights, x, y):
        return loss_fn(functional_call(model, weights, (x[None],)), y[None])

    per_sample = vmap(grad_and_value(sample_loss), in_dims=(None, 0, 0))
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        weights = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            gradients, each = per_sample(weights, x, y)
            for name, gradient in gradients.items():
                p = model.get_parameter(name)
                p.grad = gradient.sum(0) / samples + (0 if p.grad is None else p.grad)
            window_loss += each.sum().item() / samples
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
