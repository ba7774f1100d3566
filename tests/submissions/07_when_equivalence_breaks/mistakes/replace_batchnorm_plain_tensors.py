"""Gives the GroupNorms plain tensors in place of parameters."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = (
    "weights",
    "equivalence",
)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            if old.affine:
                del new.weight, new.bias
                new.weight, new.bias = old.weight.detach().clone(), old.bias.detach().clone()
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
