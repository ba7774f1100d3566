"""Leaves out only those parameters that are trained."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-parameters",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters() if p.requires_grad}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(size for address, size in sizes.items() if address not in parameters)
