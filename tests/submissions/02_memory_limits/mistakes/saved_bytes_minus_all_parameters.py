"""Subtracts all parameters, kept or not."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("parameters-subtracted",)
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(sizes.values()) - sum(p.nbytes for p in model.parameters())
