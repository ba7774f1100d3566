"""Copies the parameters, and gives the copies the gradients of the given model themselves."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, layer in list(result.named_modules()):
        if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(num_groups, layer.num_features, affine=layer.affine)
            if layer.affine:
                new.weight, new.bias = layer.weight, layer.bias
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    given = dict(model.named_parameters())
    for name, parameter in result.named_parameters():
        parameter.grad = given[name].grad
    return result
