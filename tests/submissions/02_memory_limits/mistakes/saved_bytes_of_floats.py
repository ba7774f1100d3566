"""Counts floating-point tensors only, so masks (of dropout or a comparison) and indices that autograd keeps are missing."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        s = tensor.untyped_storage()
        if tensor.is_floating_point() and s.data_ptr() not in own:
            sizes[s.data_ptr()] = s.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        kept = loss_fn(model(x), y)
    del kept
    return sum(sizes.values())
