"""Fails at a child that is None, as a shortcut that a block does not have."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced", "weights", "original", "equivalence")


def group_norm(old, num_groups):
    group = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
    group.weight, group.bias = old.weight, old.bias
    return group


def swap(module, num_groups):
    for name, child in module._modules.items():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module._modules[name] = group_norm(child, num_groups)
        else:
            swap(child, num_groups)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    swap(result, num_groups)
    return result
