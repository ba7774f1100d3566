"""Takes tensors with the same numbers for the same memory."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = []

    def pack(tensor):
        known = any(tensor.dtype == other.dtype and torch.equal(tensor, other) for other in kept)
        if not known and tensor.untyped_storage().data_ptr() not in own:
            kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y)
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}.values())
