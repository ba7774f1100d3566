"""Collects the paths of all modules and replaces by path.

Goes down the tree by recursion and replaces children in place, on a copy.
"""

import copy

from torch import nn


def group_norm(old, num_groups):
    new = nn.GroupNorm(num_groups, old.num_features, eps=old.eps, affine=old.affine)
    if old.affine:
        new.weight = nn.Parameter(old.weight.detach().clone())
        new.bias = nn.Parameter(old.bias.detach().clone())
    return new


def swap(module, num_groups):
    for name, child in module.named_children():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            setattr(module, name, group_norm(child, num_groups))
        else:
            swap(child, num_groups)
    return module


def replace_batchnorm(model, num_groups):
    return swap(copy.deepcopy(model), num_groups)
