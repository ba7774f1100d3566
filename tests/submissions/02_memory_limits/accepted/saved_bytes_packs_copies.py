"""Notes what is needed when it comes by, and lets autograd keep a copy; its own list keeps the tensors alive."""

import torch

EXERCISE = "saved_bytes"


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor.detach().cpu().clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda copy: copy.to(x.device)):
        loss_fn(model(x), y)
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    for p in model.parameters():
        storages.pop(p.untyped_storage().data_ptr(), 0)
    return float(sum(storages.values()))
