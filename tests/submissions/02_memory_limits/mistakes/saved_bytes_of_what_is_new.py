"""Remembers storages from call to call and counts only those that it has not seen."""

import torch

SEEN = {}

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("plain",)


def saved_bytes(model, loss_fn, x, y):
    owned = {p.untyped_storage().data_ptr() for p in model.parameters()}
    new = []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned and storage.data_ptr() not in SEEN:
            SEEN[storage.data_ptr()] = tensor
            new.append(storage.nbytes())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    return sum(new)
