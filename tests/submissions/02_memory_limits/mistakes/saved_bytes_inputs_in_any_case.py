"""Counts x and y whether autograd keeps them or not."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {s.data_ptr(): s.nbytes() for s in (x.untyped_storage(), y.untyped_storage())}

    def pack(tensor):
        s = tensor.untyped_storage()
        if s.data_ptr() not in own:
            sizes[s.data_ptr()] = s.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        kept = loss_fn(model(x), y)
    del kept
    return sum(sizes.values())
