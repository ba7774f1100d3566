"""Returns a tensor with one element."""

import torch

EXERCISE = "sum_form_lr"


def sum_form_lr(lr, accumulation_steps):
    return torch.tensor(lr, dtype=torch.float64) * accumulation_steps**-1
