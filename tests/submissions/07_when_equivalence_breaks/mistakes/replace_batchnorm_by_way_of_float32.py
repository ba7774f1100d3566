"""Loads the weights into a new GroupNorm in float32, and makes that float64 afterwards. No named mistake."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("weights",)


def exchange(module, num_groups):
    for name, child in module.named_children():
        if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
            norm = nn.GroupNorm(num_groups, child.num_features, affine=child.affine)
            if child.affine:
                norm.to(child.weight.device)
                norm.load_state_dict({"weight": child.weight, "bias": child.bias})
                norm.to(child.weight.dtype)
            setattr(module, name, norm)
        else:
            exchange(child, num_groups)


def replace_batchnorm(model, num_groups):
    new = copy.deepcopy(model)
    exchange(new, num_groups)
    return new
