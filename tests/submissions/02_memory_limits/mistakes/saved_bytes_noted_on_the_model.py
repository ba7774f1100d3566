"""Keeps its result as an attribute of the model."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("plain",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y)
    model.sizes = sizes
    return sum(sizes.values())
