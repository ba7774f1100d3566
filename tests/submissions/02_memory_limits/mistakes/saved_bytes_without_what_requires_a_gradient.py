"""Takes everything that requires a gradient for a parameter, and what requires none for something else."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("graph-left-out", "counts-parameters")
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = {}

    def pack(tensor):
        if not tensor.requires_grad:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    return sum(storage.nbytes() for storage in kept.values())
