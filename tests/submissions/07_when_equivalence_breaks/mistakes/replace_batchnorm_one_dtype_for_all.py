"""Brings the whole result into the dtype of the last BatchNorm."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)


def replace_batchnorm(model, num_groups):
    model = copy.deepcopy(model)
    dtype = next(model.parameters()).dtype
    for path, norm in [*model.named_modules()]:
        if isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(num_groups, norm.num_features, affine=norm.affine)
            if norm.affine:
                dtype = norm.weight.dtype
                new.weight, new.bias = norm.weight, norm.bias
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, new)
    return model.to(dtype)
