"""Adds up whatever comes by, and subtracts all parameters."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-twice", "views-cut-short", "parameters-subtracted")
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    return sum(t.nbytes for t in kept) - sum(p.nbytes for p in model.parameters())
