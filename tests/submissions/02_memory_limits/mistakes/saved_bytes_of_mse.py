"""Watches the mean squared error instead of the loss function it is given."""

import torch
from torch.nn import functional

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("gated",)


def saved_bytes(model, loss_fn, x, y):
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = functional.mse_loss(model(x), y)
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    assert loss.requires_grad
    return sum(size for address, size in sizes.items() if address not in parameters)
