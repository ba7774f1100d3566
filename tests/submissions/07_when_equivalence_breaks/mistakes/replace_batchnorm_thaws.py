"""Makes every parameter of the result trainable, also frozen ones of other layers."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced", "equivalence")


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            new.weight, new.bias = old.weight, old.bias
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    result.requires_grad_(True)
    return result
