"""Takes a storage for another if a tensor of another shape lies in it."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-twice",)
LOST = ("gated",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        s = tensor.untyped_storage()
        if s.data_ptr() not in own:
            sizes[s.data_ptr(), tensor.shape] = s.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        kept = loss_fn(model(x), y)
    del kept
    return sum(sizes.values())
