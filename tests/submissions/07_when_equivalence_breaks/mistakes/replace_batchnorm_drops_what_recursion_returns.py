"""Copies at every level and forgets the copies of the children."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("shallow-replace",)
LOST = ("replaced", "equivalence")


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    for name, child in new.named_children():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            group = nn.GroupNorm(num_groups, child.num_features, affine=child.affine)
            group.weight, group.bias = child.weight, child.bias
            setattr(new, name, group)
        else:
            replace_batchnorm(child, num_groups)
    return new
