"""Name the mistakes in a training loop from its fingerprint.

:func:`name_mistakes` searches the loop with the fewest mistakes that has the fingerprint found, among all that
:mod:`gradaccum.diagnosis.loop_variants` can play. What a slug means is in :mod:`gradaccum.diagnosis.catalogue`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gradaccum.diagnosis.loop_variants import MAX_MISTAKES, LoopVariant, Row, Schedule, loop_variants, play, stale_loop_variants
from gradaccum.diagnosis.search import simplest_matches

if TYPE_CHECKING:
    from gradaccum.fingerprint import Fingerprint

MATCH = 1e-4
"""Largest difference between a coefficient and that of the played loop. Different loops differ by more than 1e-2, rounding in
float64 is below 1e-9, summing in float32 below 1e-6."""


ANY_NUMBER = range(2 * MAX_MISTAKES)
"""Of mistakes."""


@dataclass(frozen=True)
class Passes:
    """What was seen of the micro-batches themselves; it tells loops apart that leave the same matrix.

    Attributes:
        distinct: each of them went through the model with gradients on, or those that did went through once.
        repeated: there were so many passes that each micro-batch may have had N.
        single: there was at most one forward for each update, so nothing was repeated in a window, and nothing cleared.
    """

    distinct: bool = False
    repeated: bool = False
    single: bool = False


def name_mistakes(
    found: Fingerprint,
    problem: Schedule,
    passes: Passes = Passes(),
    elsewhere: Mapping[Schedule, Fingerprint] = {},
    numbers: range = ANY_NUMBER,
) -> tuple[str, ...] | None:
    """The slugs of the mistakes in a loop with this fingerprint: the fewest that explain it.

    Args:
        found: the fingerprint, read with frozen parameters.
        problem: what the loop ran on; it should have leftovers, a short epoch, ragged micro-batches and a stale start, or
            some mistakes cannot be told from a right loop.
        passes: breaks ties.
        elsewhere: what it left on other problems, by problem; the mistakes explain these fingerprints, too.
        numbers: how many mistakes a loop may have.

    Returns:
        Slugs for :func:`gradaccum.diagnosis.catalogue.mistake`, none for a right loop; None if no known mistakes explain the
        fingerprint, as when it is not linear.
    """
    if not found.linear:
        return None
    everywhere = {problem: found, **elsewhere}
    starts_dirty = found.stale is not None and bool((found.stale.abs() > MATCH).any())
    slugs = _fewest_mistakes(
        {p: _rows(one, one.rates.tolist()) for p, one in everywhere.items()}, passes, starts_dirty, numbers
    )
    rates = found.rates.tolist()
    if slugs != () and any(abs(rate - 1) > MATCH for rate in rates):
        # Summing with a rate over N makes the update of averaging: what was applied counts, unless it needs a mistake more.
        full_rate = {p: _rows(one, [1.0] * len(one.rates)) for p, one in everywhere.items()}
        at_full_rate = _fewest_mistakes(full_rate, passes, starts_dirty, numbers)
        raised = max(rates) > 1 + MATCH
        if at_full_rate == () and slugs and (raised or abs(rates[0] - 1) <= MATCH):
            return None  # only the rates are wrong, and no mistake is about these
        if raised and at_full_rate:
            slugs = at_full_rate  # those of the gradients: a rate that is raised has no name
        elif (
            not raised
            and not _begins_right(found, problem)
            and at_full_rate is not None
            and (slugs is None or len(at_full_rate) + 1 < len(slugs) or "double-scale" in slugs)
        ):
            slugs = ("lr-scaled-too", *at_full_rate)
    if slugs and len(slugs) > 1 and all(len(sizes) % p.accumulation_steps == 0 for p in everywhere for sizes in p.epochs):
        slugs = tuple(slug for slug in slugs if slug not in ("tail-dropped", "tail-stale"))  # others have left these over
    if slugs and all(len(set(sizes)) <= 1 for p in everywhere for sizes in p.epochs):
        # No micro-batch holds fewer samples than another, so what divides by micro-batches is no mistake here.
        return tuple(slug for slug in slugs if slug != "mean-of-means") or None
    return slugs


def _begins_right(found: Fingerprint, problem: Schedule) -> bool:
    """Whether the first update moves the parameters as that of a right loop does, by its rate and its gradient together."""
    due, rows = next(play(LoopVariant(), problem), None), _rows(found, found.rates.tolist())
    return bool(rows) and due is not None and _same_row(due, rows[0])


def _fewest_mistakes(
    found: Mapping[Schedule, list[Row]], passes: Passes, starts_dirty: bool, numbers: range
) -> tuple[str, ...] | None:
    """The mistakes of the simplest loop that makes these updates; of several the one that fits what else was seen."""
    variants = stale_loop_variants() if starts_dirty else loop_variants()
    begins = _Beginning(*next(iter(found.items())))
    candidates = (
        one
        for one in variants
        if len(one.mistakes) in numbers
        and not (passes.distinct and one.variant.fetch == "first")
        and not (passes.single and (one.variant.fetch == "first" or one.variant.clear == "every"))
        and not (passes.single and not passes.repeated and one.variant.fetch == "once")
        and begins.like(one.variant)
    )
    matches = list(simplest_matches(candidates, found, play, _same_rows))
    fitting = [one for one in matches if (one.variant.fetch == "once") == passes.repeated]
    return (fitting or matches)[0].mistakes if matches else None


class _Beginning:
    """The first update that was found on a problem, which nearly always rules a loop out."""

    def __init__(self, problem: Schedule, rows: Sequence[Row]):
        self._problem = _FirstEpoch(problem.accumulation_steps, problem.epochs[:1])
        self._full = len(problem.epochs[0]) > problem.accumulation_steps
        self._first = rows[0] if rows else None
        self._known: dict[tuple[str, ...], bool] = {}

    def like(self, variant: LoopVariant) -> bool:
        """Whether a loop may make this update first; one that makes none in the first epoch may."""
        key = variant[:_TAIL] + variant[_TAIL + 2 :] if self._full else variant
        if key not in self._known:
            first_rows = _first_rows(self._problem)
            if key not in first_rows:
                first_rows[key] = next(play(variant, self._problem), None)
            first = first_rows[key]
            self._known[key] = first is None or (self._first is not None and _same_row(first, self._first))
        return self._known[key]


_TAIL = LoopVariant._fields.index("tail")
"""This field, of leftovers, and the next, of short epochs, make no difference to the first update of a longer epoch."""


class _FirstEpoch(NamedTuple):
    """What the first update of a loop depends on, if there is one in the first epoch."""

    accumulation_steps: int
    epochs: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=16)  # a few megabytes each; check() asks about the same problems again
def _first_rows(problem: _FirstEpoch) -> dict[tuple[str, ...], Row | None]:
    return {}


def _rows(found: Fingerprint, rates: list[float]) -> list[Row]:
    """What was found in each update, at these rates."""
    rows = zip(found.row_epochs, found.coefficients.tolist(), rates, strict=True)
    return [(e, {k: v * rate for k, v in enumerate(row) if abs(v * rate) > MATCH}) for e, row, rate in rows]


def _same_rows(found: list[Row], played: Iterator[Row]) -> bool:
    return all(one and other and _same_row(one, other) for one, other in itertools.zip_longest(played, found))


def _same_row(one: Row, other: Row) -> bool:
    (epoch, row), (other_epoch, other_row) = one, other
    return epoch == other_epoch and all(abs(row.get(k, 0.0) - other_row.get(k, 0.0)) <= MATCH for k in row.keys() | other_row)
