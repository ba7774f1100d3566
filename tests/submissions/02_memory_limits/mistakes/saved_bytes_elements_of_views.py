"""Takes the size of a view for the memory it holds."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("views-cut-short",)
LOST = ("gated",)


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}
    for t in kept:
        sizes.setdefault(t.untyped_storage().data_ptr(), t.nbytes)
    return sum(size for address, size in sizes.items() if address not in parameters)
