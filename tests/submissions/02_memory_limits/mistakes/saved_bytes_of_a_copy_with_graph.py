"""Gives the model a view of x that requires a gradient, for which autograd keeps more."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x.detach().requires_grad_()), y)
    assert loss.requires_grad
    return sum(sizes.values())
