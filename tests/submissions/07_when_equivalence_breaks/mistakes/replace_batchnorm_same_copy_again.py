"""Keeps its copies in a default argument, so a second call with the same model returns the first copy."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)


def replace_batchnorm(model, num_groups, copies={}):
    result = copy.deepcopy(model, copies)
    for path, old in list(result.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            new.weight, new.bias = old.weight, old.bias
            result.set_submodule(path, new)
    return result
