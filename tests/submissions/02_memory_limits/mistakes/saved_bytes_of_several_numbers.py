"""Leaves out tensors without dimensions, as a few bytes that do not matter."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("buffers-left-out",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.dim() and storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    return sum(kept.values())
