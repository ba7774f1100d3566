"""Computes with 32-bit integers, which real byte counts of several gigabytes do not fit into."""

import torch

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("exact",)


def memory_line(sizes, bytes):
    b, m = torch.tensor(sizes, dtype=torch.int32), torch.tensor([int(v) for v in bytes], dtype=torch.int32)
    n = len(sizes)
    sb, sm, sbb, sbm = (int(v.sum(dtype=torch.int32)) for v in (b, m, b * b, b * m))
    slope = (n * sbm - sb * sm) / (n * sbb - sb * sb)
    return (sm - slope * sb) / n, slope
