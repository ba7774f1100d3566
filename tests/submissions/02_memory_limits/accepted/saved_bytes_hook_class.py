"""A class of hooks with a list; storages are compared one by one. Backward runs as well, which changes nothing."""

from torch.autograd.graph import saved_tensors_hooks

EXERCISE = "saved_bytes"


class Watcher(saved_tensors_hooks):
    def __init__(self):
        self.kept = []
        super().__init__(self.pack, self.unpack)

    def pack(self, tensor):
        self.kept.append(tensor)
        return len(self.kept) - 1

    def unpack(self, place):
        return self.kept[place]


def saved_bytes(model, loss_fn, x, y):
    watcher = Watcher()
    with watcher:
        loss = loss_fn(model(x), y)
    distinct = []
    ignored = [p.untyped_storage()._cdata for p in model.parameters()]
    for tensor in watcher.kept:
        storage = tensor.untyped_storage()
        if storage._cdata not in ignored and all(storage._cdata != other._cdata for other in distinct):
            distinct.append(storage)
    loss.backward()
    return sum(storage.nbytes() for storage in distinct)
