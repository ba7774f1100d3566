"""Switches the model to evaluation mode for the measurement, so dropout's masks do not count."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("eval-mode",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    model.eval()
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        s = tensor.untyped_storage()
        if s.data_ptr() not in own:
            sizes[s.data_ptr()] = s.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        kept = loss_fn(model(x), y)
    del kept
    model.train()
    return sum(sizes.values())
