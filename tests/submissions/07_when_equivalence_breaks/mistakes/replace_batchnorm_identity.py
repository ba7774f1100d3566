"""Removes every BatchNorm instead of replacing it."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("not-groupnorm",)
LOST = ("replaced", "weights", "original", "equivalence")


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.Identity().train(old.training)
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
