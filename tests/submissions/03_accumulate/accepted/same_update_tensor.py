"""Returns the truth value as a tensor."""

import torch

EXERCISE = "same_update"


def same_update(config_a, config_b):
    return torch.tensor(config_a).prod() == torch.tensor(config_b).prod()
