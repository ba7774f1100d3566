"""Puts in a class of its own that is called GroupNorm."""

import copy

import torch
from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("not-groupnorm",)
LOST = ("replaced", "equivalence")


class GroupNorm(nn.Module):
    def __init__(self, g, c, affine=True):
        super().__init__()
        self.num_groups = g
        self.num_channels = c
        self.eps = 1e-5
        self.weight = nn.Parameter(torch.ones(c)) if affine else None
        self.bias = nn.Parameter(torch.zeros(c)) if affine else None

    def forward(self, x):
        return torch.nn.functional.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


def replace_batchnorm(model, g):
    r = copy.deepcopy(model)
    for path, old in list(r.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = GroupNorm(g, old.num_features, old.affine).train(old.training)
            new.weight, new.bias = old.weight, old.bias
            parent, _, name = path.rpartition(".")
            setattr(r.get_submodule(parent), name, new)
    return r
