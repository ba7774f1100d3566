"""Leaves a BatchNorm without running statistics in place. No named mistake."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced", "equivalence")


def exchange(module, num_groups):
    for name, child in module.named_children():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            if child.running_mean is not None:
                norm = nn.GroupNorm(num_groups, child.num_features, affine=child.affine)
                norm.weight, norm.bias = child.weight, child.bias
                setattr(module, name, norm)
        else:
            exchange(child, num_groups)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    exchange(new, num_groups)
    return new
