"""What the matrix of a watched run means: due or not, and which mistake explains it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gradaccum.diagnosis.catalogue import Mistake
from gradaccum.fingerprint_words import listing
from gradaccum.watching.matrices import CLOSE, Matrix, row_sums, same, shares, usual_factor, usual_width
from gradaccum.watching.searching import searched
from gradaccum.watching.sentences import (
    constant,
    difference,
    empty_update,
    left_alone,
    micro_batches,
    number,
    said_of,
    still_scaled,
    world_twice,
    wrong_total,
    wrong_width,
)
from gradaccum.watching.thrown_away import without_thrown_away

SCALER = 1024.0
"""A loss scaler multiplies by powers of two from here on."""


@dataclass(frozen=True)
class Judged:
    """The verdict on one matrix.

    Attributes:
        matrix: itself.
        due: whether its rows are the due ones, up to a constant factor; None if that cannot be told.
        mistakes: what explains rows that are not due.
        notes: what else there is to say.
        reason: why it cannot be told.
    """

    matrix: Matrix
    due: bool | None
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""


def judge(matrix: Matrix, steps: int | None, ranks: int, finished: bool, scales: Sequence[float] = ()) -> Judged:
    """What a matrix means.

    Args:
        matrix: of one loss, optimizer and group of parameters.
        steps: the accumulation steps that were meant; None if not known.
        ranks: over how many ranks gradients were averaged: a total can then not be judged from one rank.
        finished: whether the run was watched to its end, so that what came after the last update reached none.
        scales: factors by which loss scalers multiplied losses.
    """
    subject = matrix.loss if matrix.main else f"{matrix.loss}, for {matrix.parameters}"
    notes = without_constant = list(_notes(matrix, subject))

    def untold(reason: str) -> Judged:
        return Judged(matrix, None, notes=tuple(notes), reason=reason)

    if matrix.unknown:
        return untold(f"{matrix.parameters}: {matrix.unknown[0]}.")
    if any(column.uneven for column in matrix.columns):
        return untold(
            f"The values of one micro-batch are weighted differently in {subject}, as with sample weights or means of "
            "sequences: what is due is not known."
        )
    if ranks > 1 and any(matrix.alone):
        return Judged(matrix, False, (left_alone(matrix, subject),), tuple(notes))
    width = steps or usual_width(matrix)
    matrix, thrown = without_thrown_away(matrix, width)
    rows, scaling = _unscaled(matrix)
    if scaling:
        notes.append(scaling)
        matrix = dataclasses.replace(matrix, rows=rows)
    factor = usual_factor(matrix) * ranks
    if ranks > 1 and len(rows) > 1 and _is_constant(matrix, factor / ranks) and abs(factor - 1 / ranks) < CLOSE:
        return Judged(matrix, False, (world_twice(subject, ranks),), tuple(notes))
    if ranks > 1 and len(rows) > 1 and _is_constant(matrix, factor / ranks) and _is_steps(factor, width):
        rows = rows * ranks
    elif matrix.by_hand and _is_constant(matrix, factor) and _is_steps(factor, width):
        return untold(
            f"{subject} adds up to {number(factor)} in gradients by which parameters were updated by hand: whether they were "
            "divided then is not seen."
        )
    elif ranks > 1 or matrix.by_hand:
        rows = shares(rows)
        if ranks > 1:
            notes.append(
                f"Gradients were averaged over {ranks} ranks; of one rank only the shares within a window can be judged."
            )
    elif _is_constant(matrix, factor) and not abs(factor - 1) < CLOSE:
        values = _values_of_a_sample(matrix)
        if _is_steps(factor, width) and values and abs(factor - values) < CLOSE * values:
            return untold(
                f"{subject} is added up, and rows add up to {number(factor)}: that is due if it is divided by samples, which "
                f"have {values:g} values each, and it is not if it is divided by values in each micro-batch."
            )
        if not _is_steps(factor, width):
            wrong = _scaler_mistake(subject, factor, scales)
            if wrong:
                return Judged(matrix, False, (wrong,), tuple(notes))
            if values and _is_steps(factor / values, width):
                rows = rows / values
            else:
                without_constant = notes
                notes = [*notes, constant(subject, factor, width)]
                rows = rows / factor
    late = matrix.after if finished else ()
    narrow = steps is not None and any(len(window) < steps for window in matrix.windows[:-1])
    if same(rows, matrix.due) and not late and not matrix.repeated and not _misfit(matrix, steps):
        if not matrix.counted and width > 1:
            return untold(f"It is not known what {subject} counts. Point it out: gradaccum.loss_seen(loss, count).")
        if thrown:
            return untold(
                f"{micro_batches(width).capitalize()} before update {listing(thrown)} reached none: .grad was cleared instead. "
                "If that is meant, as for a window with a spike, what the updates hold is due."
            )
        if width == 1 and steps is None:
            notes.append("There is one micro-batch to each update. If more were meant, say so: accumulation_steps=N.")
        return Judged(matrix, True, notes=tuple(notes))
    if matrix.by_hand and not matrix.along:
        return untold("Parameters were updated by hand, and not along .grad: what they were updated by is not seen.")
    if not matrix.counted and not narrow and same(rows > CLOSE, matrix.due > 0):
        return untold(f"It is not known what {subject} counts. Point it out: gradaccum.loss_seen(loss, count).")
    if same(shares(rows), matrix.due) and not late and not matrix.repeated:
        usual = usual_width(matrix)
        passes = max((p for w, p in zip(matrix.windows, matrix.passes, strict=True) if len(w) == usual), default=0)
        if steps is not None and usual < steps <= passes:
            return untold(
                f"{subject} is in {usual} of the {passes} backwards of a window, other losses in the others: what their shares "
                f"should be, and whether these are the {steps} micro-batches that were meant, cannot be told."
            )
        if matrix.own_factors and not _is_constant(matrix, factor):
            return untold("Before updates, gradients of different parameters were multiplied by different factors.")
    whose = f"{matrix.loss} ({matrix.parameters})" if matrix.several else subject
    mistakes = tuple(_named(matrix, rows, width, late, whose))
    if any(mistake.slug == "not-due" for mistake in mistakes) and ranks == 1 and not matrix.by_hand:
        # No constant factor explains these rows, so they are shown as they are.
        mistakes = tuple(_named(matrix, matrix.rows, width, late, whose))
        notes = without_constant
    return Judged(matrix, False, mistakes, tuple(notes))


def _values_of_a_sample(matrix: Matrix) -> float:
    """How many values of a loss a sample has, if they are added up and it is more than one, alike for all; otherwise 0."""
    found = {column.count / column.samples if column.count and column.samples else 0.0 for column in matrix.columns}
    values = found.pop() if len(found) == 1 else 0.0
    return values if values > 1 and not any(column.whole for column in matrix.columns) else 0.0


def _scaler_mistake(subject: str, factor: float, scales: Sequence[float]) -> Mistake | None:
    """What a loss scaler leaves if it does not divide, or divides twice."""
    if any(scale > 1 and abs(factor * scale - 1) < CLOSE for scale in scales):
        message = f"{subject} is divided by the loss scaler's factor twice: rows add up to {factor:.3g}."
        return Mistake("unscaled-twice", message, "Who divides by the scale: your code, scaler.unscale_, or scaler.step?")
    powers_of_two = abs(factor) >= SCALER and (torch.tensor(factor).log2().round().exp2() - factor).abs() < CLOSE * factor
    if bool(powers_of_two) or any(scale > 1 and abs(factor - scale) < CLOSE * scale for scale in scales):
        return still_scaled(subject, factor)
    return None


def _unscaled(matrix: Matrix) -> tuple[Tensor, str]:
    """The rows before a scaling by hand: all gradients were brought to the same norm in updates, and left in others."""
    norms = [norm for share, norm in matrix.shrunk if share != 1]
    shares = torch.tensor([share for share, _ in matrix.shrunk], dtype=torch.float64)
    if len({round(float(share), 6) for share in shares}) < 2 or max(norms) > min(norms) * (1 + 1e-3):
        return matrix.rows, ""
    return matrix.rows / shares[:, None], f"Gradients were clipped by hand in {len(norms)} of {len(shares)} updates."


def _misfit(matrix: Matrix, steps: int | None) -> bool:
    """Whether windows are not as wide as was meant, other than at the end of an epoch."""
    if steps is None:
        return False
    widths = [len(window) for window in matrix.windows]
    if any(width > steps for width in widths):
        return True
    return len(widths) > 1 and usual_width(matrix) < steps and not _joined(matrix, steps)


def _joined(matrix: Matrix, steps: int) -> bool:
    """Whether each loss was computed of the outputs of as many forwards as were meant."""
    joined = []
    for before, column in itertools.pairwise(matrix.columns):
        samples, forwards = column.sampled - before.sampled, column.forward - before.forward
        joined.append(
            forwards == steps and samples and column.samples and column.samples >= samples and column.samples % samples == 0
        )
    return bool(joined) and all(joined)


def _is_constant(matrix: Matrix, factor: float) -> bool:
    sums = [total for total in row_sums(matrix) if total]
    return bool(sums) and all(abs(total - factor) <= CLOSE * abs(factor) for total in sums)


def _is_steps(factor: float, width: int) -> bool:
    return width > 1 and any(abs(factor - wrong) < CLOSE * wrong for wrong in (float(width), 1 / width))


def _notes(matrix: Matrix, subject: str) -> Iterator[str]:
    if matrix.skipped:
        times = "once" if matrix.skipped == 1 else f"{matrix.skipped} times"
        yield f"The optimizer skipped an update {times}, because gradients had overflowed; its micro-batches reached none."
    if matrix.lost:
        yield f"{micro_batches(matrix.lost).capitalize()} reached no update: gradients had overflowed and were thrown away."
    yield from matrix.only
    clipped = [share for share in matrix.clipped if share != 1.0]
    if clipped:
        times = f"{len(clipped)} of {len(matrix.clipped)} updates"
        yield f"Gradients were clipped in {times}, at most to {min(clipped):.2g} of their size."


# Names


def _named(matrix: Matrix, rows: Tensor, width: int, late: Sequence[int], subject: str) -> Iterator[Mistake]:
    if not len(rows) or not bool((rows != 0).any()):
        yield empty_update(subject)
        return
    empty = [u for u, row in enumerate(rows) if not bool((row != 0).any())]
    slugs = searched(matrix, rows, width)
    if slugs or matrix.repeated:
        for slug in dict.fromkeys((*(slugs or ()), *(["same-batch-repeated"] if matrix.repeated else []))):
            yield said_of(slug, matrix, rows, subject)
        return
    if late and same(rows, matrix.due):
        yield said_of("tail-dropped", matrix, rows, subject)
        return
    if same(rows, matrix.due):
        yield wrong_width(matrix, width, subject)
        return
    sums = rows.sum(1)
    if empty:
        yield empty_update(subject, empty)
    elif same(shares(rows), matrix.due):
        yield wrong_total(matrix, sums.tolist(), subject)
    else:
        yield Mistake("not-due", f"{subject}: {difference(matrix, rows)}", "Compare the first framed row with the one due.")
