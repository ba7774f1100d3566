"""Takes the weights over and forgets the biases."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("loses-affine",)
LOST = ("weights",)


def replace_batchnorm(model, g):
    r = copy.deepcopy(model)
    for path, old in list(r.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(g, old.num_features, affine=False)
            new.weight = old.weight
            parent, _, name = path.rpartition(".")
            setattr(r.get_submodule(parent), name, new)
    return r
