"""Finds the factor by experiment: how much longer is a sum of equal gradients than their mean?"""

import torch

EXERCISE = "sum_form_lr"


def sum_form_lr(lr, accumulation_steps):
    gradients = torch.ones(accumulation_steps, 3, dtype=torch.float64)
    return lr * (gradients.mean(0).norm() / gradients.sum(0).norm()).item()
