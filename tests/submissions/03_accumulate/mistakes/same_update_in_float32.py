"""Multiplies in float32, which cannot tell 16,785,408 samples from one more."""

import torch

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    a, b = (torch.tensor(config, dtype=torch.float32).prod() for config in (config_a, config_b))
    return bool(a == b)
