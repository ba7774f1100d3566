"""Clears the gradients of the given model before it copies it."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("mutates-original",)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    model.zero_grad()
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            new.weight, new.bias = old.weight, old.bias
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
