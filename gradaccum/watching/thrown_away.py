"""Windows that a trainer threw away: it cleared ``.grad`` after them and made no update, as after a spike of the loss."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch

from gradaccum.watching.matrices import Matrix


def without_thrown_away(matrix: Matrix, width: int) -> tuple[Matrix, list[int]]:
    """The matrix with what is due without such windows, and the numbers of the updates that came after them.

    They are full windows, and there are at most as many updates after such ones as others: a trainer that clears at the wrong
    moment does so all the time.
    """
    held = (matrix.rows != 0).any(0)
    of_ranks = len({column.rank for column in matrix.columns}) or 1
    windows, after = list(matrix.windows), list[int]()
    for u, window in enumerate(matrix.windows):
        kept = _kept(matrix, window, held, max(1, width // of_ranks))
        if kept != window:
            windows[u], after = kept, [*after, u + 1]
    if not after or 2 * len(after) > len(windows):
        return matrix, []
    due = torch.zeros_like(matrix.due)
    for u, window in enumerate(windows):
        counts = torch.tensor([matrix.columns[k].count or 1.0 for k in window], dtype=due.dtype)
        due[u, list(window)] = counts / counts.sum().clamp_min(1e-300)
    return dataclasses.replace(matrix, due=due, windows=tuple(windows)), after


def _kept(matrix: Matrix, window: Sequence[int], held: torch.Tensor, width: int) -> tuple[int, ...]:
    """A window without full windows at its beginning that no update holds; all of it if anything else is missing."""
    kept: list[int] = []
    for rank in sorted({matrix.columns[k].rank for k in window}):
        mine = [k for k in window if matrix.columns[k].rank == rank]
        gone = next((place for place, k in enumerate(mine) if bool(held[k])), len(mine))
        if gone % width or not 0 < len(mine) - gone <= width or not bool(held[mine[gone:]].all()):
            return tuple(window)
        kept += mine[gone:]
    return tuple(kept)
