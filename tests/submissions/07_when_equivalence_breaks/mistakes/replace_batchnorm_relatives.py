"""Replaces the relatives of BatchNorm1d and BatchNorm2d as well."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("changes-other-layers",)
LOST = ("replaced",)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    for path, old in list(new.named_modules()):
        if isinstance(old, nn.modules.batchnorm._BatchNorm):
            group = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            group.weight, group.bias = old.weight, old.bias
            new.set_submodule(path, group)
    return new
