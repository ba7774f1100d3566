"""Keeps the bytes of tensors themselves by where they start."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("counts-parameters", "views-cut-short")
LOST = ("deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = {}

    def pack(tensor):
        kept[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    for parameter in model.parameters():
        kept.pop(parameter.data_ptr(), None)
    return sum(kept.values())
