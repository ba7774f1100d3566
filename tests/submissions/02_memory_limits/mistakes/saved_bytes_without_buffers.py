"""Leaves out everything in the state dictionary, buffers as well as parameters."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("buffers-left-out",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    return sum(kept.values())
