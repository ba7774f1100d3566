"""Returns the model of the first call with the same number of groups."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)


def replace_batchnorm(model, num_groups, made={}):
    if num_groups in made:
        return made[num_groups]
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, (nn.BatchNorm1d, nn.BatchNorm2d)):
            new = nn.GroupNorm(num_groups, old.num_features, affine=old.affine)
            new.weight, new.bias = old.weight, old.bias
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    made[num_groups] = result
    return result
