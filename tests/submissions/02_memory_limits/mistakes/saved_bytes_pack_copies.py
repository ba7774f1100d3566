"""Notes addresses, but its pack returns copies, so that the tensors themselves are freed and addresses are used again."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("tensors-let-go",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    for p in model.parameters():
        sizes.pop(p.untyped_storage().data_ptr(), None)
    assert loss.requires_grad
    return sum(sizes.values())
