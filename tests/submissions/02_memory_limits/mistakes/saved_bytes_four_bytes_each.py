"""Believes that a number has four bytes."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("elements-not-bytes",)
LOST = ("shared", "deep")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() // t.element_size() * 4 for t in kept}
    return sum(size for address, size in sizes.items() if address not in parameters)
