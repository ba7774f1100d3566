"""Lists the paths first, then puts a layer at each, and loads the weights at the end."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    old = {path: m for path, m in model.named_modules() if type(m).__name__ in ("BatchNorm1d", "BatchNorm2d")}
    for path, layer in old.items():
        like = {"device": layer.weight.device, "dtype": layer.weight.dtype} if layer.affine else {}
        parent, _, name = path.rpartition(".")
        new = nn.GroupNorm(num_groups, layer.num_features, affine=layer.affine, **like)
        setattr(result.get_submodule(parent), name, new)
    result.load_state_dict(model.state_dict(), strict=False)
    return result
