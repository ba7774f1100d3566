"""Join what the ranks of one run saw: each has its own micro-batches in the same updates."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor

from gradaccum.diagnosis.catalogue import Mistake
from gradaccum.watching.log import Log
from gradaccum.watching.matrices import CLOSE, Matrix, same, shares
from gradaccum.watching.report import Report
from gradaccum.watching.sentences import rank_sum, ranks_alike, world_twice
from gradaccum.watching.verdict import Judged, judge

SECONDS = 60.0
"""How long a rank waits for the others."""


@dataclass(frozen=True)
class _Rank:
    """What a rank tells the others."""

    report: Report
    ranks: int
    finished: bool
    scales: tuple[float, ...]


_TIMES = itertools.count()
"""How often this process has joined; every rank does it in the same order."""


def joined_report(mine: Report, log: Log, steps: int | None, seconds: float) -> Report:
    """The report on all ranks, made by each of them.

    The ranks meet in the store of their process group, not in a collective: one that does not come is an error after so many
    seconds, it does not get in the way of the trainer's own collectives, and the group may have been destroyed by then.

    Raises:
        TimeoutError: a rank did not come.
        RuntimeError: there is only one rank.
    """
    if log.store is None or log.world < 2:
        raise RuntimeError("seen.joined() is for several ranks: watch after torch.distributed.init_process_group(…)")
    ours = _Rank(mine, log.ranks, log.finished, tuple(sorted({float(scale) for scale in log.scales})))
    return _join(_exchanged(ours, log, seconds), steps)


def _exchanged(ours: _Rank, log: Log, seconds: float) -> list[_Rank]:
    name, wait = f"gradaccum/{next(_TIMES)}", timedelta(seconds=seconds)
    every: list[_Rank] = []
    for rank in range(log.world):
        try:
            if not every:  # the process that keeps the store, mostly that of rank 0, may be gone
                log.store.set(f"{name}/{log.rank}", _pickled(ours))
            log.store.wait([f"{name}/{rank}"], wait)
        except RuntimeError as error:
            raise TimeoutError(
                f"rank {rank} did not call seen.joined() within {seconds:g} s of rank {log.rank}: watch on every rank, and "
                "call it on every rank, outside of `if rank == 0`"
            ) from error
        every.append(pickle.loads(log.store.get(f"{name}/{rank}")))
    with contextlib.suppress(RuntimeError):  # the process that keeps the store must not end before all have read it
        log.store.set(f"{name}/{log.rank}/read", b"")
        log.store.wait([f"{name}/{rank}/read" for rank in range(log.world)], wait)
    return every


def _pickled(ours: _Rank) -> bytes:
    """Bytes that ``pickle.loads`` reads, with tensors as plain numbers: torch would put in a file for each of them."""
    file = io.BytesIO()
    _Pickler(file).dump(ours)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        return (_tensor, (value.tolist(), value.shape, value.dtype)) if isinstance(value, Tensor) else NotImplemented


def _tensor(numbers: list, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    return torch.tensor(numbers, dtype=dtype).reshape(shape)


def _join(every: Sequence[_Rank], steps: int | None) -> Report:
    reports = [one.report for one in every]
    backwards = sum(report.backwards for report in reports)
    fault = next((report.fault for report in reports if report.fault), "")
    matrices = [_by_name(report) for report in reports]
    reasons = [f"Rank {rank}: {reason}" for rank, report in enumerate(reports) for reason in report.reasons]
    if len({report.updates for report in reports}) > 1:
        counts = ", ".join(str(report.updates) for report in reports)
        reasons.append(f"The ranks made different numbers of updates: {counts}.")
    elif any(one.keys() != matrices[0].keys() for one in matrices):
        reasons.append("The ranks saw different losses or parameters, which cannot be put side by side.")
    elif all(one.ranks == 1 for one in every):
        reasons.append("Gradients were not seen to be averaged over ranks.")
    judged = [] if reasons else [_judged([one[name] for one in matrices], every, steps) for name in matrices[0]]
    reasons += [one.reason for one in judged if one.reason]
    told = [mistake for report in reports for mistake in report.mistakes if reasons or mistake not in _of_matrices(report)]
    mistakes = {mistake.slug: mistake for mistake in reversed([*told, *(m for one in judged for m in one.mistakes)])}
    own = {note for report in reports for one in report.judged for note in one.notes}
    notes = [note for report in reports for note in report.notes if note not in own and "seen.joined()" not in note]
    notes += [note for one in judged for note in one.notes]
    return Report(
        reports[0].updates,
        backwards,
        tuple(judged),
        tuple(reversed(mistakes.values())),
        tuple(reasons),
        tuple(dict.fromkeys(notes)),
        fault,
    )


def _of_matrices(report: Report) -> list[Mistake]:
    return [mistake for one in report.judged for mistake in one.mistakes]


def _by_name(report: Report) -> dict[tuple, Judged]:
    """The matrices of a rank: those of one loss, optimizer and group of parameters in their order."""
    found: dict[tuple, Judged] = {}
    for one in report.judged:
        name = (one.matrix.loss, one.matrix.optimizer, one.matrix.parameters)
        found[(*name, sum(known[:3] == name for known in found))] = one
    return found


def _judged(of_ranks: Sequence[Judged], every: Sequence[_Rank], steps: int | None) -> Judged:
    """The verdict on one matrix of all ranks."""
    parts, ranks = [one.matrix for one in of_ranks], len(of_ranks)
    matrix = joined(parts)
    if any(matrix.alone):
        return Judged(matrix, False, tuple(mistake for one in of_ranks for mistake in one.mistakes))
    wrong = _of_all(matrix, parts, f"{matrix.loss}, for {matrix.parameters}" if not matrix.main else matrix.loss)
    if wrong:
        return Judged(matrix, False, (wrong,))
    finished, scales = all(one.finished for one in every), sorted({scale for one in every for scale in one.scales})
    for loops in () if same(matrix.rows, matrix.due) else _as_single_loops(matrix, parts):
        mistakes = [mistake for loop in loops for mistake in judge(loop, steps, 1, finished, scales).mistakes]
        if mistakes and not any(mistake.slug in ("not-due", "wrong-total") for mistake in mistakes):
            return Judged(matrix, False, tuple(mistakes))
    return judge(matrix, steps and steps * ranks, 1, finished, scales)


def _as_single_loops(matrix: Matrix, parts: Sequence[Matrix]) -> Iterator[list[Matrix]]:
    """The matrices of ranks as those of loops without other ranks: times their number, or over the share that each is due."""
    yield [dataclasses.replace(part, rows=part.rows * len(parts)) for part in parts]
    alone = []
    for rank, part in enumerate(parts):
        mine = [k for k, column in enumerate(matrix.columns) if column.rank == rank]
        due = matrix.due[[matrix.updates.index(update) for update in part.updates]][:, mine].sum(1, keepdim=True)
        alone.append(dataclasses.replace(part, rows=torch.where(due > 0, part.rows / due, part.rows)))
    yield alone


def _of_all(matrix: Matrix, parts: Sequence[Matrix], subject: str) -> Mistake | None:
    """What is wrong with the ranks' weights if shares within each rank are due."""
    if same(matrix.rows, matrix.due) or not len(matrix.rows):
        return None
    sums, ranks = matrix.rows.sum(1), len(parts)
    for total, wrong in ((1 / ranks, world_twice), (float(ranks), rank_sum)):
        if same(matrix.rows / total, matrix.due):
            return wrong(subject, ranks)
    inside = [[int(column.rank == rank) for column in matrix.columns] for rank in range(ranks)]
    of_rank = torch.tensor(inside, dtype=torch.float64).T
    found, due = matrix.rows @ of_rank / sums[:, None], matrix.due @ of_rank
    full = (due > 0).all(1)
    if not all(same(shares(part.rows), part.due) for part in parts):
        return None
    uneven = [u for u in range(len(full)) if full[u] and bool(((due[u] - 1 / ranks).abs() > CLOSE).any())]
    if uneven and bool(((found - 1 / ranks).abs()[full] < CLOSE).all()):
        return ranks_alike(subject, due[uneven[0]].tolist())
    return None


def joined(parts: Sequence[Matrix]) -> Matrix:
    """One matrix of those of all ranks: in each window the columns of rank 0, then those of rank 1, and so on."""
    updates = sorted({update for part in parts for update in part.updates})
    places = [(_window(part, k), rank, k) for rank, part in enumerate(parts) for k in range(len(part.columns))]
    order = {(rank, k): place for place, (_, rank, k) in enumerate(sorted(places))}
    columns = {place: dataclasses.replace(parts[r].columns[k], rank=r) for (r, k), place in order.items()}
    rows = torch.zeros(len(updates), len(order), dtype=torch.float64)
    windows: list[list[int]] = [[] for _ in updates]
    alone: list[list[int]] = [[] for _ in updates]
    for rank, part in enumerate(parts):
        mine = [order[rank, k] for k in range(len(part.columns))]
        for u, update in enumerate(part.updates):
            row = updates.index(update)
            rows[row, mine] = part.rows[u]
            windows[row] += [mine[k] for k in part.windows[u]]
            alone[row] += [mine[k] for k in part.alone[u]]
    due = torch.zeros_like(rows)
    for row, window in enumerate(windows):
        counts = torch.tensor([columns[k].count or 1.0 for k in window], dtype=torch.float64)
        due[row, window] = counts / counts.sum()
    most = max(parts, key=lambda part: len(part.updates))
    return dataclasses.replace(
        most,
        rows=rows,
        due=due,
        windows=tuple(tuple(sorted(window)) for window in windows),
        after=tuple(sorted(order[rank, k] for rank, part in enumerate(parts) for k in part.after)),
        columns=tuple(columns[place] for place in range(len(columns))),
        repeated=tuple(sorted(order[rank, k] for rank, part in enumerate(parts) for k in part.repeated)),
        boundaries=tuple(order[0, k] for k in parts[0].boundaries),
        passes=tuple(len(parts) * passes for passes in most.passes),
        updates=tuple(updates),
        alone=tuple(map(tuple, alone)),
    )


def _window(part: Matrix, k: int) -> float:
    """The update that a column was made for: the first whose window has it or a later column."""
    return next((part.updates[u] for u, window in enumerate(part.windows) if window and window[-1] >= k), float("inf"))
