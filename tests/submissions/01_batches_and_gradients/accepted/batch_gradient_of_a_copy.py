"""Works on a deep copy of the model, so that backward can write wherever it likes."""

import copy

EXERCISE = "batch_gradient"


def batch_gradient(model, loss_fn, x, y):
    twin = copy.deepcopy(model)
    twin.zero_grad()
    loss_fn(twin(x), y).backward()
    return {name: p.grad.clone() for name, p in twin.named_parameters() if p.grad is not None}
