"""Takes where a parameter begins for where its storage begins."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    parameters = {p.data_ptr() for p in model.parameters()}
    assert loss.requires_grad
    return sum(size for address, size in sizes.items() if address not in parameters)
