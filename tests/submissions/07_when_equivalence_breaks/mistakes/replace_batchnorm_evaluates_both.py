"""Leaves the given model and the result in evaluation mode."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = (
    "mode-changed",
    "result-in-other-mode",
)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model.eval())
    for path, old in list(new.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            group = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            group.weight, group.bias = old.weight, old.bias
            new.set_submodule(path, group)
    return new
