"""Gives every layer parameters of its own, those that share some as well."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)


def copied(model, num_groups):
    if isinstance(model, nn.BatchNorm1d | nn.BatchNorm2d):
        new = nn.GroupNorm(num_groups, model.num_features, affine=model.affine)
        if model.affine:
            new.weight, new.bias = copy.deepcopy(model.weight), copy.deepcopy(model.bias)
        return new
    result = copy.copy(model)
    result._parameters = {name: copy.deepcopy(parameter) for name, parameter in model._parameters.items()}
    result._buffers = {name: copy.deepcopy(buffer) for name, buffer in model._buffers.items()}
    result._modules = {name: child and copied(child, num_groups) for name, child in model._modules.items()}
    return result


def replace_batchnorm(model, num_groups):
    return copied(model, num_groups)
