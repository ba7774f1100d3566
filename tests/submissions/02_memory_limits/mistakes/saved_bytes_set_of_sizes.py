"""Puts sizes into a set, where equal ones are one."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("sizes-merged",)
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    storages = [t.untyped_storage() for t in kept]
    return sum({s.nbytes() for s in storages if s.data_ptr() not in parameters})
