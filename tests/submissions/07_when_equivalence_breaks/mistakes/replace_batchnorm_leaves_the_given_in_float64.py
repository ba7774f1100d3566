"""Leaves the given model in another dtype, with the values that it had."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("mutates-original",)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    model.double()
    for path, m in list(result.named_modules()):
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, m.num_features, affine=m.affine)
            if m.affine:
                new.weight, new.bias = m.weight, m.bias
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
