"""Runs the model on a contiguous copy of x, which is smaller than the storage of a slice."""

import torch

EXERCISE = "saved_bytes"
LOST = ("gated",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    found = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss_fn(model(x.contiguous()), y)
    return sum(found.values())
