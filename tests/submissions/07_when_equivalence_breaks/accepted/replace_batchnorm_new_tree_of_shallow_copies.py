"""Copies what is no BatchNorm module by module and never changes a model."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"


def group_norm(old, num_groups):
    new = nn.GroupNorm(num_groups, old.num_features, eps=old.eps, affine=old.affine)
    if old.affine:
        new.weight = nn.Parameter(old.weight.detach().clone())
        new.bias = nn.Parameter(old.bias.detach().clone())
    return new


def new_tree(model, num_groups, memo):
    if isinstance(model, (nn.BatchNorm1d, nn.BatchNorm2d)):
        return group_norm(model, num_groups)
    result = copy.copy(model)
    result._parameters = {k: copy.deepcopy(p, memo) for k, p in model._parameters.items()}
    result._buffers = copy.deepcopy(model._buffers)
    result._modules = {name: new_tree(child, num_groups, memo) for name, child in model.named_children()}
    return result


def replace_batchnorm(model, num_groups):
    return new_tree(model, num_groups, {})
