"""Gives a GroupNorm the BatchNorm's bias as its weight, and the weight as its bias."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("weights",)


def replace_batchnorm(model, num_groups):
    def walk(module):
        for name, child in module.named_children():
            if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
                norm = nn.GroupNorm(num_groups, child.num_features, affine=child.affine)
                norm.weight, norm.bias = child.bias, child.weight
                setattr(module, name, norm)
            else:
                walk(child)

    result = copy.deepcopy(model)
    walk(result)
    return result
