"""Copies and replaces nothing, because it assigns to a loop variable."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("nothing-replaced",)
LOST = ("replaced", "weights", "original", "equivalence")


def group_norm(old, num_groups):
    new = nn.GroupNorm(num_groups, old.num_features, eps=old.eps, affine=old.affine)
    if old.affine:
        new.weight = nn.Parameter(old.weight.detach().clone())
        new.bias = nn.Parameter(old.bias.detach().clone())
    return new


def replace_batchnorm(model, num_groups):
    model = copy.deepcopy(model)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module = group_norm(module, num_groups)
    return model
