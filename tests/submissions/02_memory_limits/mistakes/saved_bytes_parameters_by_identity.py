"""Leaves out parameters only where they were kept as they are, not as a view."""

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
    kept = [t for t in kept if not any(t is p for p in model.parameters())]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}.values())
