"""Changes the class of the copied layers, so that the running statistics stay in the model's state."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"
MISTAKES = ()
LOST = ("replaced",)


def replace_batchnorm(model, num_groups):
    result = copy.deepcopy(model)
    for layer in result.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            layer.__class__ = nn.GroupNorm
            layer.num_groups, layer.num_channels = num_groups, layer.num_features
    return result
