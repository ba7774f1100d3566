"""A weighted sum with equal weights."""

import torch

EXERCISE = "average_gradients"


def average_gradients(gradients):
    rows = torch.stack(tuple(gradients))
    weights = torch.full((len(rows),), 1 / len(rows)).to(rows)
    return torch.einsum("n,n...->...", weights, rows)
