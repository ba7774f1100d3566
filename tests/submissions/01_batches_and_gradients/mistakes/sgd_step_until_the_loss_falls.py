"""Halves the rate until the update lowers the loss, so that it is not the rate that was given."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    moved = [(p, p.detach().clone(), p.grad) for p in model.parameters() if p.grad is not None]
    with torch.no_grad():
        for _ in range(20):
            for p, start, gradient in moved:
                p.copy_(start - lr * gradient)
            if loss_fn(model(x), y) <= loss:
                break
            lr /= 2
    model.zero_grad()
    return loss.item()
