"""Takes the channels of the first BatchNorm for all. No named mistake."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)
SAYS = ("A GroupNorm does not have the number of channels (num_channels) of",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    norms = [(p, m) for p, m in result.named_modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))]
    channels = norms[0][1].num_features if norms else 0
    for path, m in norms:
        new = nn.GroupNorm(num_groups, channels, affine=m.affine)
        if m.affine:
            new.weight, new.bias = m.weight, m.bias
        parent, _, name = path.rpartition(".")
        setattr(result.get_submodule(parent), name, new)
    return result
