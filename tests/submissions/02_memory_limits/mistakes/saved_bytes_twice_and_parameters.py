"""Two mistakes at once."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-twice", "counts-parameters")
LOST = ("shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    return sum(t.untyped_storage().nbytes() for t in kept)
