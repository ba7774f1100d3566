"""Compares sums of binary logarithms to the last bit, though they are rounded."""

import torch

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    a, b = (torch.tensor(config, dtype=torch.float64).log2().sum() for config in (config_a, config_b))
    return bool(a == b)
