"""Recognises parameters by the address of the tensor, so a slice of a weight that does not begin at its start counts."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-parameters",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        if tensor.data_ptr() not in own:
            s = tensor.untyped_storage()
            sizes[s.data_ptr()] = s.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        kept = loss_fn(model(x), y)
    del kept
    return sum(sizes.values())
