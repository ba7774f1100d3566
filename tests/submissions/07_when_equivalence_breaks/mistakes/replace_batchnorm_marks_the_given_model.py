"""Leaves a note on the given model. No named mistake."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("original",)


def exchange(module, num_groups):
    for name, child in module.named_children():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            norm = nn.GroupNorm(num_groups, child.num_features, affine=child.affine)
            if child.affine:
                norm.weight, norm.bias = child.weight, child.bias
            setattr(module, name, norm)
        else:
            exchange(child, num_groups)


def replace_batchnorm(model, num_groups):
    model.replaced = True
    new = copy.deepcopy(model)
    del new.replaced
    exchange(new, num_groups)
    return new
