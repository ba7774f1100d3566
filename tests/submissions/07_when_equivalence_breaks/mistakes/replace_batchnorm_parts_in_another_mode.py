"""Leaves the parts of the result in training mode."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("result-in-other-mode",)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model).train()
    for path, old in list(new.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            group = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            group.weight, group.bias = old.weight, old.bias
            new.set_submodule(path, group)
    new.training = model.training
    return new
