"""Takes the weights over by way of float16."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("weights",)


def replace_batchnorm(model, g):
    r = copy.deepcopy(model)
    for path, old in list(r.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(g, old.num_features, affine=old.affine)
            if old.affine:
                new.weight.data = old.weight.data.half().float()
                new.bias.data = old.bias.data
            parent, _, name = path.rpartition(".")
            setattr(r.get_submodule(parent), name, new)
    return r
