"""Leaves out what it was given."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("inputs-left-out",)
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    parameters |= {x.untyped_storage().data_ptr(), y.untyped_storage().data_ptr()}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(size for address, size in sizes.items() if address not in parameters)
