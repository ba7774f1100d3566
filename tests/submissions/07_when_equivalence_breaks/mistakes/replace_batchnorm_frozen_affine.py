"""Keeps weights and biases as parameters that are not trained."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("froze-affine",)
LOST = ("equivalence",)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    for path, old in list(new.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            group = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            if old.affine:
                group.weight = nn.Parameter(old.weight.data, requires_grad=False)
                group.bias = nn.Parameter(old.bias.data, requires_grad=False)
            new.set_submodule(path, group)
    return new
