"""Watches the backward pass, when everything has been kept already."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("nothing-saved",)
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    loss = loss_fn(model(x), y)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss.backward()
    return sum(t.nbytes for t in kept)
