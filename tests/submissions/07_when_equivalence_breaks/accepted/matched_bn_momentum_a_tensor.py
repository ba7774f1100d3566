"""In torch, and returned as a tensor of one element."""

import torch

EXERCISE = "matched_bn_momentum"


def matched_bn_momentum(momentum, accumulation_steps):
    kept = torch.tensor(1 - momentum, dtype=torch.float64)
    return 1 - kept.pow(1 / accumulation_steps)
