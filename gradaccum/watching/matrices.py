"""Put the matrices of a watched run together: one for each loss, and for each group of parameters where these differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gradaccum.fingerprint import Fingerprint
from gradaccum.watching.holdings import Held, Holdings, names_of

if TYPE_CHECKING:
    from gradaccum.watching.losses import Arrived, Loss
    from gradaccum.watching.watcher import Log, Update

UNEVEN = 1e-3
"""Relative difference from which on the values of one loss weigh differently: rounding in half precision stays below."""


@dataclass(frozen=True)
class Column:
    """One loss that reached the parameters: a micro-batch.

    Attributes:
        weights: for each backward, the coefficient of the loss's mean in what that backward computed.
        count: what the loss counts; None if that is not known.
        last: the last of these backwards.
        uneven: whether values within it weigh differently.
        samples: how many samples it compares, if known.
    """

    weights: dict[int, float]
    count: float | None
    last: int
    uneven: bool
    samples: float | None = None


@dataclass(frozen=True)
class Matrix:
    """What the updates of some parameters hold of one loss.

    Attributes:
        loss: name of the loss.
        optimizer: number of the optimizer.
        parameters: the names of the first parameters it is true for, and how many entries they have.
        entries: entries of all these parameters.
        rows: ``(U, K)``, found, for each update that can be judged.
        due: ``(U, K)``, each column's share of what its window counts.
        windows: for each row the columns that came since the update before.
        after: columns after the last update.
        columns: the micro-batches.
        skipped: columns of updates that were skipped.
        unknown: why rows cannot be told; empty if they can.
        clipped: for each row what clipping multiplied it by, 1.0 where it did not.
        shrunk: for each row what else multiplied all gradients after the last backward, and their norm then.
        boundaries: columns before which a data loader began again.
        repeated: columns of an input that the same update has already.
    """

    loss: str
    optimizer: int
    parameters: str
    entries: int
    rows: Tensor
    due: Tensor
    windows: tuple[tuple[int, ...], ...]
    after: tuple[int, ...]
    columns: tuple[Column, ...]
    unknown: tuple[str, ...] = ()
    skipped: int = 0
    clipped: tuple[float, ...] = ()
    shrunk: tuple[tuple[float, float], ...] = ()
    boundaries: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    main: bool = True
    places: tuple[str, ...] = field(default=())

    @property
    def counted(self) -> bool:
        """Whether it is known what each column counts."""
        return all(column.count is not None for column in self.columns)

    def fingerprint(self, numbers: Tensor) -> Fingerprint:
        """Found or due as a fingerprint, one epoch unless a data loader was seen to begin again."""
        epochs = [sum(k >= start for start in self.boundaries) for k in range(len(self.columns))]
        columns = tuple((e, int(c.count or 1)) for e, c in zip(epochs, self.columns, strict=True))
        zeros, ones = torch.zeros(len(numbers), dtype=torch.float64), torch.ones(len(numbers), dtype=torch.float64)
        row_epochs = tuple(epochs[window[-1]] if window else 0 for window in self.windows)
        return Fingerprint(numbers, zeros, ones, row_epochs, columns)


def matrices_of(log: Log, holdings: Holdings) -> list[Matrix]:
    """All matrices of a run, the main one of each loss and optimizer first."""
    streams = _streams(log, list(holdings.held.values()))
    found = []
    for number in dict.fromkeys(update.optimizer for update in log.updates):
        updates = [update for update in log.updates if update.optimizer == number]
        of_optimizer = [m for stream in streams for m in _of_stream(stream, number, updates, holdings, log)]
        alive = [m for m in of_optimizer if bool((m.rows != 0).any()) or m.unknown]
        # A loss whose gradients another loss's update throws away does not belong to this optimizer, as in a GAN.
        found += alive or of_optimizer
    return found


# Streams: the losses of one place in a program, in the order of the run


def _streams(log: Log, held: Sequence[Held]) -> list[list[Loss]]:
    by_backward: dict[int, Counter[str]] = {}
    touched: dict[int, frozenset[int]] = {}
    keys: list[tuple[Loss, tuple, tuple]] = []
    for loss in log.losses:
        if not loss.weights:
            continue
        backward = min(loss.weights)
        order = by_backward.setdefault(backward, Counter())
        if backward not in touched:
            touched[backward] = frozenset(id(one.parameter) for one in held if backward in one.touched)
        if not touched[backward]:
            continue
        position = order[loss.kind]
        order[loss.kind] += 1
        keys.append((loss, (loss.kind, position, loss.place), (loss.kind, position, touched[backward])))
    parent: dict[tuple, tuple] = {}

    def root(key: tuple) -> tuple:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    for _, place, reach in keys:
        parent[root(reach)] = root(place)
    streams: dict[tuple, list[Loss]] = {}
    for loss, place, _ in keys:
        streams.setdefault(root(place), []).append(loss)
    return list(streams.values())


def _column(loss: Loss) -> Column:
    weights, uneven = {}, False
    count = None if loss.count is None else float(loss.count)
    for backward, arrived in loss.weights.items():
        weights[backward], entries = _coefficient(loss, arrived, count)
        uneven |= float(arrived.largest) > float(arrived.smallest) * (1 + UNEVEN) and loss.count is None
        if count is None and entries > 1:
            count = entries
    return Column(weights, count, max(weights), uneven, loss.samples)


def _coefficient(loss: Loss, arrived: Arrived, count: float | None) -> tuple[float, float]:
    """How much of the mean of a loss is in a backward, and how many values were counted."""
    if loss.mean:
        return float(arrived.total), count or 0.0
    if count is not None:
        return float(arrived.total) * count, count
    return float(arrived.size if loss.place.startswith("end") else arrived.total), float(arrived.entries)


# Matrices


def _of_stream(stream: Sequence[Loss], number: int, updates: Sequence[Update], holdings: Holdings, log: Log) -> list[Matrix]:
    columns = tuple(map(_column, stream))
    backwards = {backward for column in columns for backward in column.weights}
    inside = {key for update in updates for key in update.rows} | {key for update in updates for key in update.unknown}
    held = [one for key, one in holdings.held.items() if key in inside and one.touched & backwards]
    if not held:
        return []
    ends = [update.backwards for update in updates]
    windows = [tuple(k for k, c in enumerate(columns) if a <= c.last < b) for a, b in pairwise([0, *ends])]
    last = ends[-1] if ends else 0
    judged = [u for u, update in enumerate(updates) if not update.skipped and (windows[u] or _holds(update, backwards))]
    boundaries = tuple(sum(c.last < start for c in columns) for start in log.boundaries)
    due = torch.zeros(len(judged), len(columns), dtype=torch.float64)
    for row, u in enumerate(judged):
        counts = [columns[k].count or 1.0 for k in windows[u]]
        for k, count in zip(windows[u], counts, strict=True):
            due[row, k] = count / sum(counts) if sum(counts) else 0.0
    groups = _groups(held, [updates[u] for u in judged], columns)
    name = f"{stream[0].kind}"
    return [
        Matrix(
            loss=name,
            optimizer=number,
            parameters=names_of(members),
            entries=sum(one.size for one in members),
            rows=rows,
            due=due,
            windows=tuple(windows[u] for u in judged),
            after=tuple(k for k, c in enumerate(columns) if c.last >= last),
            columns=columns,
            unknown=unknown,
            skipped=sum(update.skipped for update in updates),
            clipped=tuple(updates[u].clipped or 1.0 for u in judged),
            shrunk=tuple(updates[u].shrunk or (1.0, 0.0) for u in judged),
            repeated=tuple(k for k, c in enumerate(columns) if c.last in log.repeated),
            boundaries=tuple(sorted({b for b in boundaries if 0 < b < len(columns)})),
            main=k == 0,
            places=tuple(dict.fromkeys(loss.place for loss in stream)),
        )
        for k, (members, rows, unknown) in enumerate(groups)
    ]


def _holds(update: Update, backwards: set[int]) -> bool:
    return any(backward in row for row in update.rows.values() for backward in backwards)


def _groups(
    held: Sequence[Held], updates: Sequence[Update], columns: Sequence[Column]
) -> list[tuple[list[Held], Tensor, tuple[str, ...]]]:
    """Parameters whose updates hold the same, the largest group first: members, rows, and why they cannot be told."""
    found: dict[tuple, tuple[list[Held], Tensor, tuple[str, ...]]] = {}
    for one in held:
        histories = tuple(id(update.rows.get(id(one.parameter))) for update in updates)
        reached = frozenset(k for k, c in enumerate(columns) if one.touched & c.weights.keys())
        unknown = tuple(dict.fromkeys(u.unknown[id(one.parameter)] for u in updates if id(one.parameter) in u.unknown))
        key = (histories, reached, unknown)
        if key not in found:
            found[key] = ([], _rows(one, updates, columns, reached), unknown)
        found[key][0].append(one)
    groups = sorted(found.values(), key=lambda group: (-int((~group[1].isnan()).sum()), -sum(m.size for m in group[0])))
    merged: list[tuple[list[Held], Tensor, tuple[str, ...]]] = []
    for members, rows, unknown in groups:
        for others, theirs, reason in merged:
            if unknown == reason and _agree(rows, theirs):
                others += members
                break
        else:
            merged.append((list(members), rows, unknown))
    merged.sort(key=lambda group: -sum(member.size for member in group[0]))
    return [(members, rows.nan_to_num(0.0), unknown) for members, rows, unknown in merged]


def _agree(one: Tensor, other: Tensor) -> bool:
    """Whether two matrices are the same wherever both are known, up to the rounding of half precision."""
    both = ~(one.isnan() | other.isnan())
    difference = (one - other).abs()[both]
    return bool((difference <= 1e-3 * other.abs()[both].clamp_min(1e-3)).all())


def _rows(one: Held, updates: Sequence[Update], columns: Sequence[Column], reached: frozenset[int]) -> Tensor:
    """``(U, K)``; not a number where a column's backwards did not reach the parameter, so that any coefficient would fit."""
    weights: dict[int, list[tuple[int, float]]] = {}
    for k, column in enumerate(columns):
        for backward, weight in column.weights.items():
            weights.setdefault(backward, []).append((k, weight))
    rows = torch.zeros(len(updates), len(columns), dtype=torch.float64)
    for u, update in enumerate(updates):
        for backward, share in update.rows.get(id(one.parameter), {}).items():
            for k, weight in weights.get(backward, ()):
                rows[u, k] += share * weight
    rows[:, [k for k in range(len(columns)) if k not in reached]] = math.nan
    return rows


def usual_width(matrix: Matrix) -> int:
    """How many micro-batches a window has: the most frequent number, of several the largest."""
    widths = Counter(len(window) for window in matrix.windows if window)
    return max(widths, key=lambda width: (widths[width], width)) if widths else 1


def row_sums(matrix: Matrix) -> list[float]:
    """What each row adds up to; 1 is due."""
    return [float(total) for total in matrix.rows.sum(1)]


def usual_factor(matrix: Matrix) -> float:
    """What the rows of a matrix add up to, most of them."""
    sums = [total for total in row_sums(matrix) if total]
    return median(sums) if sums else 0.0
