"""Solves the normal equations in float64."""

import torch

EXERCISE = "memory_line"


def memory_line(sizes, bytes):
    A = torch.tensor([[1.0, float(size)] for size in sizes], dtype=torch.float64)
    b = torch.tensor(bytes, dtype=torch.float64)
    fixed, per_sample = torch.linalg.solve(A.T @ A, A.T @ b).tolist()
    return fixed, per_sample
