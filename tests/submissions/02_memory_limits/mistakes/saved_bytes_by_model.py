"""Remembers the number of bytes by model, also for another batch."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("plain",)

known = {}


def saved_bytes(model, loss_fn, x, y):
    if model not in known:
        own = {p.untyped_storage().data_ptr() for p in model.parameters()}
        kept = {}

        def pack(tensor):
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = loss_fn(model(x), y)
        known[model] = sum(storage.nbytes() for place, storage in kept.items() if place not in own)
        del loss
    return known[model]
