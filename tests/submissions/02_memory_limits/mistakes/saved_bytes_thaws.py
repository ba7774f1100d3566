"""Thaws what is frozen, and leaves it so: autograd then keeps more."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    model.requires_grad_(True)
    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    return sum(size for place, size in kept.items() if place not in parameters)
