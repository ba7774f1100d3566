"""Tells deepcopy what stands for each BatchNorm."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"


def group_norm(old, num_groups):
    new = nn.GroupNorm(num_groups, old.num_features, eps=old.eps, affine=old.affine)
    if old.affine:
        new.weight = nn.Parameter(old.weight.detach().clone())
        new.bias = nn.Parameter(old.bias.detach().clone())
    return new


def replace_batchnorm(model, num_groups):
    memo = {id(m): group_norm(m, num_groups) for m in model.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))}
    return copy.deepcopy(model, memo)
