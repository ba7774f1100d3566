"""Takes a BatchNorm whose weight and bias are frozen for one that is to stay."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced", "equivalence")


def replace_batchnorm(model, num_groups):
    def walk(module):
        for name, child in module.named_children():
            frozen = any(not parameter.requires_grad for parameter in child.parameters())
            if not isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)) or frozen:
                walk(child)
                continue
            norm = nn.GroupNorm(num_groups, child.num_features, affine=child.affine)
            norm.weight, norm.bias = child.weight, child.bias
            setattr(module, name, norm)

    result = copy.deepcopy(model)
    walk(result)
    return result
