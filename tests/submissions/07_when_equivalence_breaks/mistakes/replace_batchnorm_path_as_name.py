"""Gives setattr the path of a layer."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("path-as-name",)
LOST = ("replaced", "equivalence")


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    for path, old in list(new.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            group = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            group.weight, group.bias = old.weight, old.bias
            setattr(new, path, group)
    return new
