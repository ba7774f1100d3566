"""Puts what has no weight and bias into the given model as well."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("mutates-original",)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, m in list(model.named_modules()):
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, m.num_features, affine=m.affine)
            parent, _, name = path.rpartition(".")
            if m.affine:
                new.weight = nn.Parameter(m.weight.detach().clone())
                new.bias = nn.Parameter(m.bias.detach().clone())
            else:
                setattr(model.get_submodule(parent), name, new)
            setattr(result.get_submodule(parent), name, new)
    return result
