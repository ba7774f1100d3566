"""Solves an overdetermined system with torch, in float32."""

import torch

EXERCISE = "memory_line"


def memory_line(sizes, bytes):
    size = torch.tensor(sizes, dtype=torch.float32)
    system = torch.stack([torch.ones_like(size), size], dim=1)
    solution = torch.linalg.lstsq(system, torch.tensor(bytes, dtype=torch.float32)[:, None]).solution
    return tuple(solution[:, 0])
