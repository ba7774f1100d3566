"""Gives one group to what has no weight and bias, whatever the number."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("wrong-groups",)
LOST = ("replaced",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, m in list(result.named_modules()):
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            if m.affine:
                new = nn.GroupNorm(num_groups, m.num_features)
                new.weight, new.bias = m.weight, m.bias
            else:
                new = nn.GroupNorm(1, m.num_features, affine=False)
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
