"""Decides at once what counts, and multiplies elements of the storage by bytes per element; prints on the way."""

import torch

EXERCISE = "saved_bytes"


def saved_bytes(model, loss_fn, x, y) -> int:
    known = {p.untyped_storage().data_ptr() for p in model.parameters()}
    total = 0

    def pack(tensor):
        nonlocal total
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            known.add(storage.data_ptr())
            total += storage.size()
            print(tuple(tensor.shape), total)
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    with hooks:
        graph = loss_fn(model(x), y)
    del graph
    return torch.tensor(total)
