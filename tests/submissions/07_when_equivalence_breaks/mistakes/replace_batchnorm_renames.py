"""Builds every Sequential anew from its children, so names are lost."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
LOST = ("replaced", "equivalence")


def _convert(bn, num_groups):
    gn = nn.GroupNorm(num_groups, bn.num_features, affine=bn.affine)
    if bn.affine:
        gn.weight, gn.bias = bn.weight, bn.bias
    return gn


def _rebuilt(module, num_groups):
    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
        return _convert(module, num_groups)
    if isinstance(module, nn.Sequential):
        return nn.Sequential(*(_rebuilt(child, num_groups) for child in module)).train(module.training)
    for name, child in module.named_children():
        setattr(module, name, _rebuilt(child, num_groups))
    return module


def replace_batchnorm(model, num_groups):
    return _rebuilt(copy.deepcopy(model), num_groups)
