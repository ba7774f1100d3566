"""Leaves the new layer its bias where the old one had neither weight nor bias."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("adds-affine",)
LOST = ("weights",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, old.num_features)
            new.weight = old.weight
            if old.bias is not None:
                new.bias = old.bias
            result.set_submodule(path, new)
    return result
