"""A few numbers of a large tensor, enough to see whether it was left, cleared or scaled."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_ENTRIES = 256
"""Entries of a sketch."""

TOLERANCES = {torch.float64: 1e-9, torch.float32: 2e-5, torch.bfloat16: 1e-2, torch.float16: 2e-3}
"""Relative difference up to which one sketch is a multiple of another: each entry was rounded a few times to its dtype."""


def tolerance(dtype: torch.dtype) -> float:
    """The relative rounding error of sketches of tensors of this dtype."""
    return TOLERANCES.get(dtype, 1e-2)


def read(tensor: Tensor, blocks: bool = False) -> Tensor:
    """A copy of at most 256 numbers of a tensor: entries at equal distances, or sums over equal blocks.

    Entries are cheap, but may all be zero where the tensor is not, as in the gradient of an embedding. Sums see all of it.
    """
    flat = tensor.detach()
    flat = flat.reshape(-1) if flat.is_contiguous() else flat.flatten()
    if flat.numel() <= MAX_ENTRIES:
        return flat.clone()
    size = flat.numel() // MAX_ENTRIES
    if not blocks:
        return flat[: size * MAX_ENTRIES : size].clone()
    return flat[: size * MAX_ENTRIES].view(MAX_ENTRIES, size).sum(1)


def multiple(now: Tensor, before: Tensor) -> float | None:
    """The number that ``before`` was multiplied by to get ``now``; None if there is none."""
    if now.shape != before.shape or now.device != before.device:
        return None
    if now.dtype == before.dtype and torch.equal(now, before):
        return 1.0
    new, old = now.double(), before.double()
    size = float(new.norm())
    if size == 0:
        return 0.0
    square = float(old @ old)
    if square == 0 or not (new.isfinite().all() and old.isfinite().all()):
        return None
    factor = float(new @ old) / square
    rounding = max(tolerance(now.dtype), tolerance(before.dtype))
    return factor if float((new - factor * old).norm()) <= rounding * size else None


def are_alike(parts: list[Tensor]) -> bool:
    """Whether all of these are the same up to rounding, and not zero."""
    first = parts[0].double()
    rounding = 10 * tolerance(parts[0].dtype) * float(first.norm())
    return rounding > 0 and all(part.shape == first.shape and float((part - first).norm()) <= rounding for part in parts)


def combination(now: Tensor, parts: list[Tensor], rounding: float | None = None) -> list[float] | None:
    """The coefficients with which ``parts`` add up to ``now``; None if they do not, or in more than one way."""
    if not parts or len(parts) * 2 > len(now):
        return None
    rounding = 10 * tolerance(now.dtype) if rounding is None else rounding
    basis = torch.stack([part.double() for part in parts], dim=1)
    size = now.double().norm()
    if (
        not bool(torch.isfinite(basis).all())
        or not bool(torch.isfinite(size))
        or int(torch.linalg.matrix_rank(basis)) < len(parts)
    ):
        return None
    found = torch.linalg.lstsq(basis.cpu(), now.double().cpu()[:, None]).solution[:, 0]
    rest = (basis.cpu() @ found - now.double().cpu()).norm()
    return found.tolist() if float(rest) <= rounding * float(size) else None
