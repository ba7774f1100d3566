"""Compares the logarithms of products in float32, to the last bit, as sums."""

import torch

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    return torch.tensor(config_a).log().sum().item() == torch.tensor(config_b).log().sum().item()
