"""Watches the model only."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("loss-not-watched",)
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        prediction = model(x)
    loss_fn(prediction, y).backward()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(size for address, size in sizes.items() if address not in parameters)
