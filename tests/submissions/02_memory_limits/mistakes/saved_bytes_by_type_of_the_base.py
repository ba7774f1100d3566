"""Takes only views that name a parameter as their base for parameters, so that a detached one counts."""

import torch
from torch import nn

EXERCISE = "saved_bytes"
MISTAKES = ("counts-parameters",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    sizes = {}

    def pack(tensor):
        if not isinstance(tensor, nn.Parameter) and not isinstance(tensor._base, nn.Parameter):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    return sum(sizes.values())
