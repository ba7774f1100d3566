"""Puts nothing in the place of a BatchNorm without weight and bias."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("not-groupnorm",)
LOST = ("replaced",)
SAYS = ("A BatchNorm became something other than an nn.GroupNorm.",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, m in list(result.named_modules()):
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            if m.affine:
                new = nn.GroupNorm(num_groups, m.num_features)
                new.weight, new.bias = m.weight, m.bias
            else:
                new = nn.Identity()
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
