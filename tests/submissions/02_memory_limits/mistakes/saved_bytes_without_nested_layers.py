"""Leaves out the parameters of the model's direct children only, and misses those nested deeper."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-parameters",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = set()
    for child in model.children():
        for p in child.parameters(recurse=False):
            own.add(p.untyped_storage().data_ptr())
    sizes = {}

    def pack(tensor):
        s = tensor.untyped_storage()
        if s.data_ptr() not in own:
            sizes[s.data_ptr()] = s.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        kept = loss_fn(model(x), y)
    del kept
    return sum(sizes.values())
