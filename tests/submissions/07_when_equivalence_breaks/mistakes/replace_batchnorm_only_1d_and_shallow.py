"""Knows BatchNorm1d only, and direct children only."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("shallow-replace", "misses-batchnorm2d")
LOST = ("replaced", "equivalence")


def group_norm(old, num_groups):
    new = nn.GroupNorm(num_groups, old.num_features, eps=old.eps, affine=old.affine)
    if old.affine:
        new.weight = nn.Parameter(old.weight.detach().clone())
        new.bias = nn.Parameter(old.bias.detach().clone())
    return new


def replace_batchnorm(model, num_groups):
    model = copy.deepcopy(model)
    for name, child in model.named_children():
        if isinstance(child, nn.BatchNorm1d):
            setattr(model, name, group_norm(child, num_groups))
    return model
