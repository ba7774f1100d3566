"""Asks a tensor of features for its bytes."""

import torch

EXERCISE = "accumulation_cost"


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    cached = accumulation_steps > 1
    features = torch.empty(cached * micro_batch_size * accumulation_steps, width, dtype=dtype)
    return [1 + cached, 2 * features.numel() * features.element_size()]
