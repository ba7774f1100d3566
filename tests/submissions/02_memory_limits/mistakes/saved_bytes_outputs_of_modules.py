"""Adds up the outputs of all modules, which is something else. No named mistake."""

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    handles = [m.register_forward_hook(lambda module, given, out: kept.append(out)) for m in model.modules()]
    loss_fn(model(x), y)
    for handle in handles:
        handle.remove()
    return sum(t.nbytes for t in kept)
