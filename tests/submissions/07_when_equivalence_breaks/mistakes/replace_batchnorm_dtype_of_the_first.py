"""Gives every GroupNorm the dtype of the model's first parameter."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("wrong-dtype",)
LOST = ("weights",)


def replace_batchnorm(model, num_groups):
    first = next(model.parameters())
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            if old.affine:
                new.load_state_dict({"weight": old.weight, "bias": old.bias})
                new.to(first)
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
