"""Takes whatever has the shape of a parameter for one."""

import torch

EXERCISE = "saved_bytes"
MISTAKES = ("parameters-by-shape",)
LOST = ("deep",)


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(model(x), y).backward()
    shapes = {p.shape for p in model.parameters()} | {p.t().shape for p in model.parameters()}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept if t.shape not in shapes}
    return sum(sizes.values())
