"""Counts with every layer in training mode, and puts the modes back."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    modes = [layer.training for layer in model.modules()]
    model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    assert loss.requires_grad
    for layer, mode in zip(model.modules(), modes, strict=True):
        layer.training = mode
    return sum(sizes.values())
