"""What the matrix of a watched run means: due or not, and which mistake explains it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gradaccum.diagnosis.catalogue import CATALOGUE, Mistake
from gradaccum.diagnosis.naming import name_mistakes
from gradaccum.fingerprint import Fingerprint, as_fraction
from gradaccum.fingerprint_words import listing
from gradaccum.watching.matrices import Matrix, row_sums, usual_factor, usual_width

CLOSE = 5e-4
"""Difference up to which a coefficient is due, relative to the largest due in its row: gradients in half precision leave
2.5e-4, in float32 1e-6. A mistake that matters changes a coefficient by more than 1e-2."""

MAX_COLUMNS = 64
"""Micro-batches in which mistakes are searched; a mistake shows in the first windows."""

MAX_CUTS, MAX_PLACES = 3, 6
"""Beginnings of epochs that are tried together, and places at which they are tried."""

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


@dataclass(frozen=True)
class Cut:
    """The micro-batches of a run cut into epochs, for the search."""

    accumulation_steps: int
    epochs: tuple[tuple[int, ...], ...]


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
            f"{subject} weighs the values of one micro-batch differently, as weights of samples or means of sequences do: "
            "what is due is not known."
        )
    width = steps or usual_width(matrix)
    rows, scaling = _unscaled(matrix)
    if scaling:
        notes.append(scaling)
        matrix = dataclasses.replace(matrix, rows=rows)
    factor = usual_factor(matrix) * ranks
    if ranks > 1 and len(rows) > 1 and _is_constant(matrix, factor / ranks) and abs(factor - 1 / ranks) < CLOSE:
        return Judged(matrix, False, (_world_twice(subject, ranks),), tuple(notes))
    if ranks > 1 and len(rows) > 1 and _is_constant(matrix, factor / ranks) and _is_steps(factor, width):
        rows = rows * ranks
    elif matrix.by_hand and _is_constant(matrix, factor) and _is_steps(factor, width):
        return untold(
            f"{subject} adds up to {_number(factor)} in gradients by which parameters were updated by hand: whether they were "
            "divided then is not seen."
        )
    elif ranks > 1 or matrix.by_hand:
        rows = _shares(rows)
        if ranks > 1:
            notes.append(
                f"Gradients were averaged over {ranks} ranks; of one rank only the shares within a window can be judged."
            )
    elif _is_constant(matrix, factor) and not abs(factor - 1) < CLOSE:
        values = _values_of_a_sample(matrix)
        if _is_steps(factor, width) and values and abs(factor - values) < CLOSE * values:
            return untold(
                f"{subject} is added up, and rows add up to {_number(factor)}: that is due if it is divided by samples, which "
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
                notes = [*notes, _constant(subject, factor, width)]
                rows = rows / factor
    late = matrix.after if finished else ()
    narrow = steps is not None and any(len(window) < steps for window in matrix.windows[:-1])
    if _same(rows, matrix.due) and not late and not matrix.repeated and not _misfit(matrix, steps):
        if not matrix.counted and width > 1:
            return untold(f"It is not known what {subject} counts. Point it out: gradaccum.loss_seen(loss, count).")
        if width == 1 and steps is None:
            notes.append("There is one micro-batch to each update. If more were meant, say so: accumulation_steps=N.")
        return Judged(matrix, True, notes=tuple(notes))
    if matrix.by_hand and not matrix.along:
        return untold("Parameters were updated by hand, and not along .grad: what they were updated by is not seen.")
    if not matrix.counted and not narrow and _same(rows > CLOSE, matrix.due > 0):
        return untold(f"It is not known what {subject} counts. Point it out: gradaccum.loss_seen(loss, count).")
    if _same(_shares(rows), matrix.due) and not late and not matrix.repeated:
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


def _shares(rows: Tensor) -> Tensor:
    """Rows that add up to 1."""
    sums = rows.sum(1, keepdim=True)
    return torch.where(sums != 0, rows / sums, rows)


def _values_of_a_sample(matrix: Matrix) -> float:
    """How many values of a loss a sample has, if they are added up and it is more than one, alike for all; otherwise 0."""
    found = {column.count / column.samples if column.count and column.samples else 0.0 for column in matrix.columns}
    values = found.pop() if len(found) == 1 else 0.0
    return values if values > 1 and not any(column.whole for column in matrix.columns) else 0.0


def _constant(subject: str, factor: float, width: int) -> str:
    said = f"{subject} is multiplied by a constant, {_number(factor)}"
    if width == 1:
        return f"{said}."
    return f"{said}; or by {_number(factor / width)}, and is not divided by the {width} micro-batches of a window."


def _scaler_mistake(subject: str, factor: float, scales: Sequence[float]) -> Mistake | None:
    """What a loss scaler leaves if it does not divide, or divides twice."""
    if any(scale > 1 and abs(factor * scale - 1) < CLOSE for scale in scales):
        message = f"{subject} is divided by the loss scaler's factor twice: rows add up to {factor:.3g}."
        return Mistake("unscaled-twice", message, "Who divides by the scale: your code, scaler.unscale_, or scaler.step?")
    powers_of_two = abs(factor) >= SCALER and (torch.tensor(factor).log2().round().exp2() - factor).abs() < CLOSE * factor
    if bool(powers_of_two) or any(scale > 1 and abs(factor - scale) < CLOSE * scale for scale in scales):
        return _still_scaled(subject, factor)
    return None


def _world_twice(subject: str, ranks: int) -> Mistake:
    message = (
        f"{subject} is divided by the {ranks} ranks, and averaging gradients divides by them again: rows add up to 1/{ranks} "
        "of what is due."
    )
    return Mistake(
        "world-twice", message, "DistributedDataParallel averages over ranks. What is left for the loss to divide by?"
    )


def _unscaled(matrix: Matrix) -> tuple[Tensor, str]:
    """The rows before a scaling by hand: all gradients were brought to the same norm in updates, and left in others."""
    norms = [norm for share, norm in matrix.shrunk if share != 1]
    shares = torch.tensor([share for share, _ in matrix.shrunk], dtype=torch.float64)
    if len({round(float(share), 6) for share in shares}) < 2 or max(norms) > min(norms) * (1 + 1e-3):
        return matrix.rows, ""
    return matrix.rows / shares[:, None], f"Gradients were clipped by hand in {len(norms)} of {len(shares)} updates."


def _same(one: Tensor, other: Tensor) -> bool:
    peak = other.double().abs().amax(1, keepdim=True).clamp_min(1e-12) if other.numel() else torch.ones(1, 1)
    return bool(((one.double() - other.double()).abs() <= CLOSE * peak).all())


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
        yield f"{_micro_batches(matrix.lost).capitalize()} reached no update: gradients had overflowed and were thrown away."
    yield from matrix.only
    clipped = [share for share in matrix.clipped if share != 1.0]
    if clipped:
        times = f"{len(clipped)} of {len(matrix.clipped)} updates"
        yield f"Gradients were clipped in {times}, at most to {min(clipped):.2g} of their size."


# Names


def _named(matrix: Matrix, rows: Tensor, width: int, late: Sequence[int], subject: str) -> Iterator[Mistake]:
    if not len(rows) or not bool((rows != 0).any()):
        yield _empty(subject)
        return
    empty = [u for u, row in enumerate(rows) if not bool((row != 0).any())]
    slugs = _searched(matrix, rows, width)
    if slugs or matrix.repeated:
        for slug in dict.fromkeys((*(slugs or ()), *(["same-batch-repeated"] if matrix.repeated else []))):
            yield _said(slug, matrix, rows, subject)
        return
    if late and _same(rows, matrix.due):
        yield _said("tail-dropped", matrix, rows, subject)
        return
    if _same(rows, matrix.due):
        yield _width(matrix, width, subject)
        return
    sums = rows.sum(1)
    if empty:
        yield _empty(subject, empty)
    elif _same(_shares(rows), matrix.due):
        yield _wrong_total(matrix, sums.tolist(), subject)
    else:
        yield Mistake("not-due", f"{subject}: {_difference(matrix, rows)}", "Compare the first framed row with the one due.")


def _searched(matrix: Matrix, rows: Tensor, width: int) -> tuple[str, ...] | None:
    """The mistakes of the simplest loop with these rows, whichever way the run is cut into epochs."""
    best: tuple[str, ...] | None = None
    for starts in _cuts(matrix, width):
        for counts in _counts(matrix):
            known = _name(*_beginning(matrix, rows, width, starts, counts))
            if known and (best is None or len(known) < len(best)):
                best = known
            if best is not None and len(best) == 1:
                return best
    return best


def _name(found: Fingerprint, cut: Cut) -> tuple[str, ...] | None:
    """As :func:`name_mistakes`, once for runs that look the same."""
    key = (cut, found.row_epochs, tuple(map(tuple, found.coefficients.tolist())))
    if key not in _NAMED:
        if len(_NAMED) >= MAX_NAMED:
            _NAMED.clear()
        _NAMED[key] = name_mistakes(found, cut)
    return _NAMED[key]


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
    """Columns at which epochs may begin: where a loader began again; nowhere; around windows that are not as wide as others."""
    yield matrix.boundaries
    if matrix.boundaries:
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


SENTENCES = {
    "no-scale": "{subject} is never divided: a micro-batch of a window of {width} weighs {weight} where {share} is due.",
    "mean-of-means": "{subject}: micro-batches weigh alike in a window, {weight} each, whatever they hold. By what they count, "
    "{dues} were due.",
    "tail-dropped": "{subject}: {count} at the end of an epoch reach no update.",
    "tail-scale": "{subject}: a leftover window of {short} is divided by {usual}, so its micro-batches weigh too little.",
    "step-every": "{subject}: there is an update after every micro-batch.",
    "zero-every": "{subject}: of each window only the last micro-batch is in the update.",
    "never-zero": "{subject}: gradients are never cleared, so an update also holds the micro-batches of earlier ones.",
    "double-scale": "{subject} is divided twice: rows add up to {total} where 1 is due.",
}
"""How a mistake is said of a trainer: with its numbers. Others keep the catalogue's words."""


def _said(slug: str, matrix: Matrix, rows: Tensor, subject: str) -> Mistake:
    full = [u for u, window in enumerate(matrix.windows) if window]
    first = next((u for u in full if not _same(rows[u : u + 1], matrix.due[u : u + 1])), full[0] if full else 0)
    window = matrix.windows[first] if matrix.windows else ()
    tokens = len({column.count for column in matrix.columns}) > 1 and matrix.loss in ("cross_entropy", "nll_loss")
    name = "token-mean-of-means" if slug == "mean-of-means" and tokens else slug
    short = next((len(w) for w in matrix.windows if w and len(w) < usual_width(matrix)), len(window))
    numbers = {
        "subject": subject,
        "width": len(window) or usual_width(matrix),
        "weight": _number(float(rows[first, window[-1]])) if window else "0",
        "share": _number(float(matrix.due[first, window[-1]])) if window else "0",
        "dues": listing(_number(float(matrix.due[first, k])) for k in window),
        "total": _number(float(rows[first].sum())) if len(rows) else "0",
        "short": short,
        "usual": usual_width(matrix),
        "count": _micro_batches(sum(not bool((rows[:, k] != 0).any()) for k in range(len(matrix.columns)))),
    }
    known = CATALOGUE[slug]
    message = SENTENCES[slug].format(**numbers) if slug in SENTENCES else f"{subject}: {_of_a_trainer(known.message)}"
    return Mistake(name, message, known.hint)


def _of_a_trainer(message: str) -> str:
    return message.replace("Your loop", "the loop").replace("Your updates", "the updates").replace("your loop", "the loop")


def _micro_batches(count: int) -> str:
    return "one micro-batch" if count == 1 else f"{count} micro-batches"


def _empty(subject: str, rows: Sequence[int] = ()) -> Mistake:
    which = f"Update {listing(u + 1 for u in rows)}" if rows else "Every update"
    message = f"{which} holds nothing of {subject}: .grad was empty or cleared when the optimizer updated."
    return Mistake("empty-update", message, "Is .grad cleared between backward and the update?")


def _width(matrix: Matrix, steps: int, subject: str) -> Mistake:
    widths = [len(window) for window in matrix.windows]
    message = (
        f"{subject}: the micro-batches of an update are weighed right, but updates come after {min(widths)} to {max(widths)} "
        f"of them where {steps} were meant."
    )
    return Mistake("window-width", message, "Leftovers at the end of an epoch aside, when does the trainer decide to update?")


def _still_scaled(subject: str, factor: float) -> Mistake:
    message = f"{subject} is multiplied by {factor:g}, a loss scaler's factor, and still is when the optimizer updates."
    return Mistake("still-scaled", message, "Let the scaler make the step: scaler.step(optimizer), or unscale first.")


def _wrong_total(matrix: Matrix, sums: Sequence[float], subject: str) -> Mistake:
    u = max(range(len(sums)), key=lambda k: abs(sums[k] - 1))
    due = sum(matrix.columns[k].count or 1.0 for k in matrix.windows[u])
    message = (
        f"{subject} is divided by a wrong total: what it counts weighs 1/{_whole(due / sums[u])} in update {u + 1}, "
        f"where the window has {_whole(due)}; the row adds up to {sums[u]:.3g}."
    )
    return Mistake("wrong-total", message, "Count what the loss averages over, in the window that the update is made of.")


def _whole(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 0.01 else f"{value:.4g}"


def _difference(matrix: Matrix, rows: Tensor) -> str:
    u = int((rows - matrix.due).abs().amax(1).argmax())
    k = int((rows[u] - matrix.due[u]).abs().argmax())
    weight, due, count = float(rows[u, k]), float(matrix.due[u, k]), matrix.columns[k].count
    said = f"in update {u + 1} micro-batch {k + 1} weighs {_number(weight)} where {_number(due)} is due"
    if count and weight * due > 0 and abs(count / weight - round(count / weight)) < 0.01:
        said += f": what it counts is divided by {_whole(count / weight)}, and the window has {_whole(count / due)}"
    return f"{said}."


def _number(value: float) -> str:
    """A coefficient: a simple fraction if it is one up to rounding, which is coarser in half precision."""
    return next((said for said in map(as_fraction, (value, round(value, 4))) if "/" in said), f"{value:.3g}")
