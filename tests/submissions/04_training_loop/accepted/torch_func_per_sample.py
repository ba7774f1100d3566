"""Takes the gradient of every single sample with vmap and averages them."""

from itertools import islice

from torch.func import functional_call, grad_and_value, vmap

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    def sample_loss(weights, x, y):
        return loss_fn(functional_call(model, weights, (x[None],)), y[None])

    per_sample = vmap(grad_and_value(sample_loss), in_dims=(None, 0, 0))
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        weights = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
        window_loss = 0.0
        for xs, ys in window:
            for x, y in zip(xs.split(8), ys.split(8), strict=True):
                gradients, each = per_sample(weights, x, y)
                window_loss += each.sum().item() / samples
                for name, p in model.named_parameters():
                    if name in gradients:
                        share = gradients[name].sum(0) / samples
                        p.grad = share if p.grad is None else p.grad + share
        optimizer.step()
        optimizer.zero_grad()
        losses.append(window_loss)
    return losses
