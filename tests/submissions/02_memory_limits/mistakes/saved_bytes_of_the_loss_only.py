"""Runs the model before the hooks are active."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("model-not-watched",)
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    own = {tensor.untyped_storage().data_ptr() for tensor in model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    prediction = model(x)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(prediction, y)
    assert loss.requires_grad
    return sum(kept.values())
