"""Search the mistakes that explain a matrix, whichever way its run is cut into epochs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gradaccum.diagnosis.loop_variants import MAX_MISTAKES
from gradaccum.diagnosis.naming import name_mistakes
from gradaccum.fingerprint import Fingerprint
from gradaccum.watching.matrices import CLOSE, Matrix

MAX_COLUMNS = 64
"""Micro-batches in which mistakes are searched; a mistake shows in the first windows."""

MAX_CUTS, MAX_PLACES = 3, 6
"""Beginnings of epochs that are tried together, and places at which they are tried."""


@dataclass(frozen=True)
class Cut:
    """The micro-batches of a run cut into epochs, for the search."""

    accumulation_steps: int
    epochs: tuple[tuple[int, ...], ...]


def searched(matrix: Matrix, rows: Tensor, width: int) -> tuple[str, ...] | None:
    """The mistakes of the simplest loop with these rows, whichever way the run is cut into epochs."""
    if matrix.boundaries:  # epochs were seen to begin; a trainer may count through all of them
        known = _searched(matrix, rows, width, [matrix.boundaries, ()])
        if known:
            return known
    return _searched(matrix, rows, width, _cuts(matrix, width))


def _searched(matrix: Matrix, rows: Tensor, width: int, cuts: Iterable[tuple[int, ...]]) -> tuple[str, ...] | None:
    loops = [_beginning(matrix, rows, width, starts, counts) for starts in cuts for counts in _counts(matrix)]
    key = tuple((cut, found.row_epochs, tuple(map(tuple, found.coefficients.tolist()))) for found, cut in loops)
    if key not in _NAMED:
        if len(_NAMED) >= MAX_NAMED:
            _NAMED.clear()
        _NAMED[key] = _simplest(loops)
    return _NAMED[key]


def _simplest(loops: Sequence[tuple[Fingerprint, Cut]]) -> tuple[str, ...] | None:
    """The fewest mistakes that explain any of these: first all are tried with one mistake, then with two, and so on."""
    wrong = [(found, cut) for found, cut in loops if name_mistakes(found, cut, numbers=range(1)) is None]
    for number in range(1, MAX_MISTAKES + 1):
        for found, cut in wrong:
            known = name_mistakes(found, cut, numbers=range(number, number + 1))
            if known:
                return known
    return None


_NAMED: dict[tuple, tuple[str, ...] | None] = {}

MAX_NAMED = 256
"""Searches whose results are kept."""


def _counts(matrix: Matrix) -> Iterator[list[int]]:
    """What micro-batches count: entries of a loss, or samples if these are in proportion."""
    counts = [column.count or 1.0 for column in matrix.columns]
    samples = [column.samples or 0.0 for column in matrix.columns]
    yield [int(count) for count in counts]
    ratios = {count / sample for count, sample in zip(counts, samples, strict=True) if sample}
    if all(samples) and len(ratios) == 1 and ratios != {1.0}:
        yield [int(sample) for sample in samples]


def _cuts(matrix: Matrix, width: int) -> Iterator[tuple[int, ...]]:
    """Columns at which epochs may begin: nowhere, or around windows that are not as wide as others."""
    yield ()
    places = []
    for window, following in itertools.pairwise([*matrix.windows, ()]):
        if len(window) > width:
            places.append(window[-width])
        if window and following and (len(window) < width or len(following) < width):
            places.append(window[-1] + 1)
    for most in range(1, MAX_CUTS + 1):
        yield from itertools.combinations(sorted(set(places))[:MAX_PLACES], most)
    if len(places) > MAX_CUTS:
        yield tuple(sorted(set(places)))


def _beginning(
    matrix: Matrix, rows: Tensor, width: int, starts: Sequence[int], counts: Sequence[int]
) -> tuple[Fingerprint, Cut]:
    """The first windows, as the search takes them."""
    ends = [window[-1] + 1 for window in matrix.windows if window]
    end = max((e for e in ends if e <= max(MAX_COLUMNS, 3 * width)), default=ends[0] if ends else 0)
    kept = [u for u, window in enumerate(matrix.windows) if window and window[-1] < end]
    cuts = sorted({0, *(start for start in starts if 0 < start < end), end})
    epochs = tuple(tuple(counts[a:b]) for a, b in itertools.pairwise(cuts))
    row_epochs = tuple(sum(matrix.windows[u][-1] >= start for start in cuts[1:-1]) for u in kept)
    columns = tuple((e, size) for e, sizes in enumerate(epochs) for size in sizes)
    numbers = _snapped(rows[kept][:, :end], matrix.due[kept][:, :end])
    zeros, ones = torch.zeros(len(kept), dtype=torch.float64), torch.ones(len(kept), dtype=torch.float64)
    return Fingerprint(numbers, zeros, ones, row_epochs, columns), Cut(width, epochs)


def _snapped(rows: Tensor, due: Tensor) -> Tensor:
    """Rows without the rounding of half precision, which the search does not expect."""
    grid = (rows * 5040).round() / 5040
    rows = grid.where((rows - grid).abs() <= CLOSE * 0.1 * rows.abs(), rows)
    return due.where((rows - due).abs() <= CLOSE * due.abs(), rows)
