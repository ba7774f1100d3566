"""Leaves out x and y, and of the parameters only those that are trained."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-parameters", "inputs-left-out")
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    left_out = [x, y, *(p for p in model.parameters() if p.requires_grad)]
    places = {tensor.untyped_storage().data_ptr() for tensor in left_out}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in places:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)  # noqa: F841 - the graph has to live until all is kept
    return sum(storage.nbytes() for storage in kept.values())
