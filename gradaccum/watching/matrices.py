"""Put the matrices of a watched run together: one for each loss, and for each group of parameters where these differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gradaccum.fingerprint import Fingerprint
from gradaccum.fingerprint_words import listing
from gradaccum.watching.held import Held, names_of
from gradaccum.watching.streams import Column, column_of, streams_of

if TYPE_CHECKING:
    from gradaccum.watching.holdings import Holdings
    from gradaccum.watching.log import Log, Update
    from gradaccum.watching.losses import Loss


CLOSE = 5e-4
"""Difference up to which a coefficient is due, relative to the largest due in its row: gradients in half precision leave
2.5e-4, in float32 1e-6. A mistake that matters changes a coefficient by more than 1e-2."""


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
        skipped: updates that were skipped.
        lost: columns whose gradients had overflowed and were thrown away.
        unknown: why rows cannot be told; empty if they can.
        clipped: for each row what clipping multiplied it by, 1.0 where it did not.
        shrunk: for each row what else multiplied all gradients after the last backward, and their norm then.
        boundaries: columns before which a data loader began again.
        repeated: columns of an input that the same update has already.
        passes: for each row the backwards since the update before, those of other losses too.
        by_hand, along, own_factors: see :class:`~gradaccum.watching.watcher.Update`, of any of its updates.
        main, several: whether it is of the largest group of parameters, and whether there are others.
        only: sentences about parameters that some micro-batches of each window do not reach.
        updates: for each row the number of its update.
        alone: for each row the columns in it whose gradients had not been averaged over ranks.
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
    lost: int = 0
    clipped: tuple[float, ...] = ()
    shrunk: tuple[tuple[float, float], ...] = ()
    boundaries: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    main: bool = True
    several: bool = False
    passes: tuple[int, ...] = ()
    by_hand: bool = False
    along: bool = True
    own_factors: bool = False
    only: tuple[str, ...] = ()
    updates: tuple[int, ...] = ()
    alone: tuple[tuple[int, ...], ...] = ()

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


def matrices_of(log: Log, holdings: Holdings, steps: int | None = None) -> list[Matrix]:
    """All matrices of a run, the main one of each loss and optimizer first."""
    streams = streams_of(log, list(holdings.held.values()), steps)
    found = []
    for number in dict.fromkeys(update.optimizer for update in log.updates):
        updates = [update for update in log.updates if update.optimizer == number]
        of_streams = [_of_stream(stream, number, updates, holdings, log) for stream in streams]
        alive = [ms for ms in of_streams if any(bool((m.rows != 0).any()) or m.unknown for m in ms)]
        # A loss whose gradients another loss's update throws away does not belong to this optimizer, as in a GAN.
        found += [matrix for matrices in alive or of_streams for matrix in matrices]
    return found


# Matrices


def _of_stream(stream: Sequence[Loss], number: int, updates: Sequence[Update], holdings: Holdings, log: Log) -> list[Matrix]:
    columns = tuple(map(column_of, stream))
    backwards = {backward for column in columns for backward in column.weights}
    inside = {key for update in updates for key in update.rows} | {key for update in updates for key in update.unknown}
    held = [one for key, one in holdings.held.items() if key in inside and one.touched & backwards]
    if not held:
        return []
    ends = [update.backwards for update in updates]
    lost = holdings.overflowed
    windows = [
        tuple(k for k, c in enumerate(columns) if a <= c.last < b and c.last not in lost) for a, b in pairwise([0, *ends])
    ]
    passing = {backward for one in held for backward in one.touched} - lost - log.aside()
    passes = [sum(a <= backward < b for backward in passing) for a, b in pairwise([0, *ends])]
    last = ends[-1] if ends else 0
    judged = [u for u, update in enumerate(updates) if not update.skipped and (windows[u] or _holds(update, backwards))]
    boundaries = tuple(sum(c.last < start for c in columns) for start in log.boundaries)
    due = torch.zeros(len(judged), len(columns), dtype=torch.float64)
    for row, u in enumerate(judged):
        counts = [1.0 if count is None else count for count in (columns[k].count for k in windows[u])]
        for k, count in zip(windows[u], counts, strict=True):
            due[row, k] = count / sum(counts) if sum(counts) else 0.0
    groups, only = _groups(held, [updates[u] for u in judged], columns, due, [windows[u] for u in judged])
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
            after=tuple(k for k, c in enumerate(columns) if c.last >= last and c.last not in lost),
            columns=columns,
            unknown=unknown,
            skipped=sum(update.skipped for update in updates),
            lost=sum(c.last in lost for c in columns),
            clipped=tuple(updates[u].clipped or 1.0 for u in judged),
            shrunk=tuple(updates[u].shrunk or (1.0, 0.0) for u in judged),
            repeated=tuple(k for k, c in enumerate(columns) if c.last in log.repeated),
            boundaries=tuple(sorted({b for b in boundaries if 0 < b < len(columns)})),
            main=k == 0,
            several=len(groups) > 1,
            passes=tuple(passes[u] for u in judged),
            by_hand=any(updates[u].by_hand for u in judged),
            along=all(updates[u].along for u in judged),
            own_factors=any(updates[u].own_factors for u in judged),
            only=only,
            updates=tuple(judged),
            alone=tuple(_alone(updates[u], columns) if log.world > 1 else () for u in judged),
        )
        for k, (members, rows, unknown) in enumerate(groups)
    ]


def _alone(update: Update, columns: Sequence[Column]) -> tuple[int, ...]:
    held = {backward for row in update.rows.values() for backward, share in row.items() if share} - update.averaged
    return tuple(k for k, column in enumerate(columns) if held & column.weights.keys())


def _holds(update: Update, backwards: set[int]) -> bool:
    return any(backward in row for row in update.rows.values() for backward in backwards)


def _groups(
    held: Sequence[Held], updates: Sequence[Update], columns: Sequence[Column], due: Tensor, windows: Sequence[tuple[int, ...]]
) -> tuple[list[tuple[list[Held], Tensor, tuple[str, ...]]], tuple[str, ...]]:
    """Parameters whose updates hold the same, the largest group first: members, rows, and why they cannot be told.

    Also sentences about parameters that some micro-batches of each window do not reach.
    """
    found: dict[tuple, tuple[list[Held], Tensor, tuple[str, ...]]] = {}
    partly: dict[str, list[Held]] = {}
    for one in held:
        histories = tuple(id(update.rows.get(id(one.parameter))) for update in updates)
        reached = frozenset(k for k, c in enumerate(columns) if one.touched & c.weights.keys())
        unknown = tuple(dict.fromkeys(u.unknown[id(one.parameter)] for u in updates if id(one.parameter) in u.unknown))
        key = (histories, reached, unknown)
        if key not in found:
            found[key] = ([], _rows(one, updates, columns, reached), unknown)
        found[key][0].append(one)
        if which := _which_reach(reached, windows):
            partly.setdefault(which, []).append(one)
    groups = sorted(found.values(), key=lambda group: (-int((~group[1].isnan()).sum()), -sum(m.size for m in group[0])))
    merged: list[tuple[list[Held], Tensor, tuple[str, ...]]] = []
    for members, rows, unknown in groups:
        for others, theirs, reason in merged:
            if unknown == reason and _agree(rows, theirs):
                others += members
                theirs.copy_(rows.where(theirs.isnan(), theirs))
                break
        else:
            merged.append((list(members), rows, unknown))
    merged.sort(key=lambda group: -sum(member.size for member in group[0]))
    only = [f"Only {which} {names_of(members)}: are the others detached from them?" for which, members in partly.items()]
    return [(members, _filled(rows, due), unknown) for members, rows, unknown in merged], tuple(only)


def _which_reach(reached: frozenset[int], windows: Sequence[tuple[int, ...]]) -> str:
    """Which micro-batches of each window reach a parameter, in words with a verb; empty if all do or it varies."""
    if len(windows) > 1 and all(len(window) > 1 and reached & {*window} == {window[-1]} for window in windows):
        return "the last micro-batch of each window reaches"
    width = max(map(len, windows), default=0)
    places = [tuple(k + 1 for k, column in enumerate(w) if column in reached) for w in windows if len(w) == width]
    if len(places) < 2 or len({*places}) > 1 or len(places[0]) in (0, width):
        return ""
    one = len(places[0]) == 1
    return f"micro-batch{'' if one else 'es'} {listing(places[0])} of each window reach{'es' if one else ''}"


def _filled(rows: Tensor, due: Tensor) -> Tensor:
    """Rows in which what no parameter of the group shows is in proportion to what is due."""
    known = ~rows.isnan()
    there, meant = rows.nan_to_num(0.0).sum(1), (due * known).sum(1)
    shown = meant > 0
    usual = float((there[shown] / meant[shown]).median()) if bool(shown.any()) else 1.0
    ratio = torch.where(shown, there / meant.clamp_min(1e-300), usual)
    return rows.where(known, due * ratio[:, None])


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


def same(one: Tensor, other: Tensor) -> bool:
    """Whether rows are the same up to rounding."""
    peak = other.double().abs().amax(1, keepdim=True).clamp_min(1e-12) if other.numel() else torch.ones(1, 1)
    return bool(((one.double() - other.double()).abs() <= CLOSE * peak).all())


def shares(rows: Tensor) -> Tensor:
    """Rows that add up to 1."""
    sums = rows.sum(1, keepdim=True)
    return torch.where(sums != 0, rows / sums, rows)
