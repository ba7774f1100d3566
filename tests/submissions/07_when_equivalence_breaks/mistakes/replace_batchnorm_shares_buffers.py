"""Gives the copy the buffers of the given model. No named mistake."""

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
    new = copy.deepcopy(model, {id(buffer): buffer for buffer in model.buffers()})
    exchange(new, num_groups)
    return new
