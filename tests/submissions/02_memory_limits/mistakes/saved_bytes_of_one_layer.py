"""Adds up three tensors that it can name, which only a single layer has."""

EXERCISE = "saved_bytes"
MISTAKES = ()
LOST = ("plain", "shared", "deep", "gated")


def saved_bytes(model, loss_fn, x, y):
    return x.nbytes + y.nbytes + model.weight.nbytes
