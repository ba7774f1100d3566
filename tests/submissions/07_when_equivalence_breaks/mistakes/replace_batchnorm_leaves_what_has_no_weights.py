"""Leaves a BatchNorm without weight and bias in place. No named mistake."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)
SAYS = ("There is still a BatchNorm1d at '3'",)


def exchange(module, num_groups):
    for name, child in module.named_children():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            if child.affine:
                norm = nn.GroupNorm(num_groups, child.num_features)
                norm.weight, norm.bias = child.weight, child.bias
                setattr(module, name, norm)
        else:
            exchange(child, num_groups)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    exchange(new, num_groups)
    return new
