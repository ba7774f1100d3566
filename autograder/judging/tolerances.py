"""When two tensors count as equal."""

from __future__ import annotations

import math

import torch
from torch import Tensor

TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
"""Relative difference up to which a movement counts as right. Rounding leaves 1e-14 in float64; a student may sum in float32
buffers, which leaves 1e-7. The smallest error of a catalogued mistake on these problems is above 1e-2."""


def close(found: Tensor, due: Tensor, dtype: str) -> bool:
    """Whether two tensors of the same shape differ by rounding only, measured against the size of what was due."""
    if found.shape != due.shape or not torch.isfinite(found).all():
        return False
    return bool((found - due).norm() <= TOLERANCE[dtype] * due.norm())


def rounding(due: float, digits: int) -> float:
    """How far a number may be off if it is to be given to so many digits, which may be meant as digits or as decimals."""
    return 0.51 * 10.0 ** (max(math.floor(math.log10(abs(due))) + 1, 0) - digits)
