"""Makes new modules around the old parameters."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("shares-parameters",)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    if isinstance(model, (nn.BatchNorm1d, nn.BatchNorm2d)):
        new = nn.GroupNorm(num_groups, model.num_features, affine=model.affine)
        new.weight, new.bias = model.weight, model.bias
        return new
    result = copy.copy(model)
    result._modules = {name: replace_batchnorm(child, num_groups) for name, child in model.named_children()}
    return result
