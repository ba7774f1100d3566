"""Returns the given model itself if it has no BatchNorm to replace."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ("shares-parameters",)
LOST = ("original",)


def replace_batchnorm(model, num_groups):
    if not any(isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d) for module in model.modules()):
        return model
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            new.weight, new.bias = old.weight, old.bias
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
