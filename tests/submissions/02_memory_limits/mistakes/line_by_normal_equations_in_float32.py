"""Solves the normal equations in float32."""

import torch

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("exact",)


def memory_line(sizes, bytes):
    x, y = torch.tensor(sizes, dtype=torch.float32), torch.tensor(bytes, dtype=torch.float32)
    n = len(x)
    s = (n * (x * y).sum() - x.sum() * y.sum()) / (n * (x * x).sum() - x.sum() ** 2)
    return ((y.sum() - s * x.sum()) / n).item(), s.item()
