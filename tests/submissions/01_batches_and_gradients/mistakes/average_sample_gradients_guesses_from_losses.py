"""Takes a loss for a sum if that of the batch is larger than that of its first sample."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("batch-not-samples",)
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    adds = loss > loss_fn(model(x[:1]), y[:1])
    gradients = torch.autograd.grad(loss, list(named.values()), materialize_grads=True)
    return {name: g / len(x) if adds else g for name, g in zip(named, gradients, strict=True)}
