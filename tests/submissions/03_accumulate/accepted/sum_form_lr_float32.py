"""Divides in float32 and returns a tensor."""

import torch

EXERCISE = "sum_form_lr"


def sum_form_lr(lr, accumulation_steps):
    return torch.tensor(lr, dtype=torch.float32) / accumulation_steps
