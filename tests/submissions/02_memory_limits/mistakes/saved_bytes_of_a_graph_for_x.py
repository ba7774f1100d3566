"""Lets x require a gradient, and leaves it so."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    x.requires_grad_()
    owned = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    return sum(sizes.values())
