"""Name the mistakes in a loop from its fingerprint.

A loop acts on ``.grad`` in few ways: it weighs a micro-batch, adds it, clears, updates. A :class:`Policy` says how one loop
does each of these; :func:`predict` plays it with weights alone, no model and no tensor, and yields the fingerprint such a
loop would have. Diagnosis is a search for the policy with the fewest mistakes that predicts the fingerprint found: nothing
is guessed from text or from error messages, and mistakes made together are found together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from gradaccum.fingerprint import Fingerprint
from gradaccum.problems import Problem

MATCH = 1e-4
"""Largest difference of a coefficient from its prediction. Different policies differ by more than 1e-2, rounding in float64
is below 1e-9, summing in float32 below 1e-6."""

MOST = 4
"""Mistakes in one loop, at most; with more than these a fingerprint says little."""

Row = tuple[int, dict[int, float]]
"""The epoch of an update and its coefficients that are not zero."""


class Policy(NamedTuple):
    """How a loop goes about its work. The defaults are a right loop.

    Attributes:
        width: of its windows: ``"N"``; the first one 1 (``"early"``), N - 1 (``"first narrow"``) or N + 1 wide
            (``"late"``); all of them N - 1 (``"narrow"``) or N + 1 wide (``"wide"``); ``"every"``: an update after each
            micro-batch of a window.
        fetch: ``"each"`` micro-batch, ``"first"`` of the window N times, or ``"once"``: each one N times, a window each.
        clear: every ``"window"``, ``"every"`` backward, ``"never"``, every ``"epoch"``, ``"before step"``, or every window
            although there are several updates in it (``"outer"``).
        weight: of a micro-batch: ``"share"`` of samples, ``"mean"`` (all alike), ``"one"``, ``"ratio"`` (its size over the
            mean size), ``"sum"`` (its samples), ``"sum mean"`` (its samples over micro-batches).
        divisor: micro-batches that the division counts: ``"present"`` in the window, or always ``"N"``.
        again: a second division: ``"no"``, by those ``"present"``, or by ``"N"``.
        tail: the leftover window is ``"applied"``, ``"dropped"``, ``"kept"`` for the next epoch, both applied and kept, or
            ``"carried"`` on: the next epoch completes it.
        short: an epoch of less than one window is ``"applied"``, ``"skipped"``, or applied although other leftovers are not
            (``"forced"``).
        graph: one for ``"each"`` micro-batch, or one ``"running"`` sum that goes through backward every time.
        scaled: weights act on the ``"loss"``, or on what is in ``.grad`` at the update.
    """

    width: str = "N"
    fetch: str = "each"
    clear: str = "window"
    weight: str = "share"
    divisor: str = "present"
    again: str = "no"
    tail: str = "applied"
    short: str = "applied"
    graph: str = "each"
    scaled: str = "loss"


CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "width": {
        "N": (),
        "every": ("step-every",),
        "early": ("off-by-one-early",),
        "first narrow": ("off-by-one-early",),
        "late": ("off-by-one-late",),
        "narrow": ("off-by-one-early",),
        "wide": ("off-by-one-late",),
    },
    "fetch": {"each": (), "first": ("same-batch-repeated",), "once": ("same-batch-repeated",)},
    "clear": {
        "window": (),
        "outer": (),
        "every": ("zero-every",),
        "never": ("never-zero",),
        "epoch": ("never-zero",),
        "before step": ("zero-before-step",),
    },
    "tail": {
        "applied": (),
        "dropped": ("tail-dropped",),
        "kept": ("tail-stale",),
        "applied, kept": ("tail-stale",),
        "carried": ("tail-stale",),
    },
    "short": {"applied": (), "skipped": ("short-epoch-no-step",), "forced": ()},
    "divisor": {"present": (), "N": ("tail-scale",)},
    "again": {"no": (), "present": ("double-scale",), "N": ("double-scale",)},
    "weight": {
        "share": (),
        "mean": ("mean-of-means",),
        "one": ("no-scale",),
        "ratio": ("no-scale",),
        "sum": ("sum-reduction",),
        "sum mean": ("sum-reduction",),
    },
    "graph": {"each": (), "running": ("retained-graph",)},
    "scaled": {"loss": (), "grad": ()},
}
"""For each attribute of a policy its values and the mistakes they are."""

NEVER_APPLIED = ("dropped", "kept", "carried")
"""What becomes of a leftover window that makes no update of its own."""


@dataclass(frozen=True)
class Passes:
    """What was seen of the micro-batches themselves; tells loops apart that leave the same matrix.

    Attributes:
        all_seen: each of them went through the model with gradients on.
        repeated: there were more passes than micro-batches.
    """

    all_seen: bool = False
    repeated: bool = False


def name_mistakes(found: Fingerprint, problem: Problem, passes: Passes = Passes()) -> tuple[str, ...] | None:
    """The slugs of the simplest policy that has this fingerprint, or None if none has.

    Args:
        found: read with frozen parameters.
        problem: what the loop ran on; it should have leftovers, a short epoch, ragged micro-batches and a stale start, or
            some mistakes cannot be told from a right loop.
        passes: breaks ties.
    """
    if not found.linear:
        return None
    rates = found.rates.tolist()
    starts_dirty = found.stale is not None and bool((found.stale.abs() > MATCH).any())
    slugs = _simplest(_rows_of(found, rates), problem, passes, starts_dirty)
    if any(rate < 1 - MATCH for rate in rates):
        # Summing with a rate over N makes the update of averaging: what was applied counts, unless it needs a mistake more.
        at_full_rate = _simplest(_rows_of(found, [1.0] * len(rates)), problem, passes, starts_dirty)
        if at_full_rate is not None and (slugs is None or len(at_full_rate) + 1 < len(slugs) or "double-scale" in slugs):
            slugs = ("lr-scaled-too", *at_full_rate)
    return slugs


def _simplest(rows: list[Row], problem: Problem, passes: Passes, starts_dirty: bool) -> tuple[str, ...] | None:
    """The mistakes of the policy that has fewest and predicts the rows; of several the one that fits what else was seen."""
    matches: list[tuple[Policy, tuple[str, ...]]] = []
    for policy, slugs in policies():
        if matches and len(slugs) > len(matches[0][1]):
            break
        if policy.fetch == "first" and passes.all_seen:
            continue
        if _predicts(policy, problem, rows):
            # Who never clears, or not between epochs, does not clear at the start either: that is no mistake of its own.
            clears_late = starts_dirty and policy.clear != "never" and not _outlives_epochs(policy)
            matches.append((policy, (*slugs, "stale-start") if clears_late else slugs))
            matches.sort(key=lambda match: len(match[1]))
    fewest = [match for match in matches if len(match[1]) == len(matches[0][1])]
    return next(
        (slugs for policy, slugs in fewest if (policy.fetch == "once") == passes.repeated), fewest[0][1] if fewest else None
    )


@cache
def policies() -> tuple[tuple[Policy, tuple[str, ...]], ...]:
    """All policies with the mistakes they make, fewest mistakes first."""
    combinations = itertools.product(*(CHOICES[name] for name in Policy._fields))
    everything = [(policy, mistakes_of(policy)) for policy in map(Policy._make, combinations) if _is_own(policy)]
    everything.sort(key=lambda entry: len(entry[1]))
    return tuple(entry for entry in everything if len(entry[1]) <= MOST)


def mistakes_of(policy: Policy) -> tuple[str, ...]:
    """The slugs of a policy's choices."""
    slugs = [slug for name, value in zip(Policy._fields, policy, strict=True) for slug in CHOICES[name][value]]
    if policy.tail in NEVER_APPLIED and policy.short != "forced":
        # A leftover that is never applied cannot be too small.
        slugs = [slug for slug in slugs if slug != "tail-scale"]
    if policy.width == "every":
        # With an update per micro-batch there is no window over which a mean was due.
        slugs = [slug for slug in slugs if slug not in ("tail-scale", "mean-of-means", "no-scale")]
    return tuple(dict.fromkeys(slugs))


def _is_own(p: Policy) -> bool:
    """Whether a combination is a loop of its own and not another one under a different name."""
    survives = p.clear in ("never", "epoch") or _outlives_epochs(p)
    plain = p.tail == p.short == "applied" and p.graph == "each" and p.scaled == "loss"
    return (
        (p.clear != "outer" or p.width == "every")
        and (p.width != "every" or (plain and p.fetch == "each" and p.clear not in ("every", "before step")))
        and (p.fetch != "once" or (plain and p.width == "N" and p.divisor == "present" and p.again == "no"))
        and (p.fetch == "each" or p.weight != "mean")
        and (p.again == "no" or p.weight in ("share", "mean"))
        and (p.divisor == "present" or p.weight in ("share", "mean", "sum mean"))
        and (p.scaled == "loss" or (survives and p.weight in ("share", "mean", "sum mean")))
        and (p.short != "skipped" or p.tail == "applied")
        and (p.short != "forced" or p.tail in ("dropped", "kept"))
        and (p.tail != "carried" or _counts_on(p))
        and {"dropped": p.clear != "never", "kept": p.clear in ("window", "never"), "applied": True}.get(
            p.tail, p.clear == "window"
        )
    )


def _counts_on(p: Policy) -> bool:
    """Whether a loop can count through all epochs: it then knows only N, not what a window will hold."""
    blind = p.weight in ("one", "sum") or (p.weight in ("mean", "sum mean") and p.divisor == "N")
    return blind and p.width in ("N", "early", "first narrow") and p.fetch == p.graph == "each" and p.again == "no"


def _outlives_epochs(policy: Policy) -> bool:
    """Whether what waits in ``.grad`` at the end of an epoch is there at the beginning of the next."""
    return "kept" in policy.tail or policy.tail == "carried"


def predict(policy: Policy, problem: Problem) -> Iterator[Row]:
    """Play a policy: the coefficients of each update, without those of a stale start."""
    grad: dict[int, float] = {}
    steps, start, waiting = problem.accumulation_steps, 0, 0
    for epoch, sizes in enumerate(problem.epochs):
        if policy.clear == "epoch" or (policy.clear == "window" and not _outlives_epochs(policy)):
            grad = {}
        width = _width(policy, steps)
        first = width - waiting if epoch and policy.tail == "carried" else _first_width(policy, steps)
        waiting = (len(sizes) - first) % width
        forced = policy.short == "forced" and len(sizes) < steps
        for full, window in _windows(policy, len(sizes), first, width):
            members = window if policy.fetch == "each" else [window[0]] * (steps if policy.fetch == "once" else len(window))
            factor, weights = _weights(policy, [sizes[k] for k in members], steps)
            unfinished = len(window) < full and not forced
            keeps = policy.clear in ("never", "epoch", "outer") or (unfinished and _outlives_epochs(policy))
            if policy.clear == "outer":
                grad = {}
            for position in range(len(members)):
                if policy.clear == "every":
                    grad = {}
                counted = range(position + 1) if policy.graph == "running" else (position,)
                for j in counted:
                    column = start + members[j]
                    grad[column] = grad.get(column, 0.0) + weights[j] * (factor if policy.scaled == "loss" else 1.0)
                if policy.width == "every":
                    yield epoch, dict(grad)
                    grad = grad if keeps else {}
            if policy.width == "every":
                continue
            if (unfinished and policy.tail in NEVER_APPLIED) or (len(sizes) < steps and policy.short == "skipped"):
                grad = grad if keeps else {}
                continue
            if policy.clear == "before step":
                grad = {}
            if policy.scaled == "grad":
                grad = {k: v * factor for k, v in grad.items()}
            yield epoch, dict(grad)
            grad = grad if keeps else {}
        start += len(sizes)


def _windows(policy: Policy, count: int, first: int, width: int) -> list[tuple[int, list[int]]]:
    """The windows of an epoch of ``count`` micro-batches, each with the width it has when it is full."""
    if policy.fetch == "once":
        return [(1, [k]) for k in range(count)]
    cuts = sorted({0, *range(first, count, width), count})
    return [(width if a else first, list(range(a, b))) for a, b in itertools.pairwise(cuts)]


def _width(policy: Policy, steps: int) -> int:
    """Micro-batches of a window that is full and not the first."""
    return {"narrow": max(1, steps - 1), "wide": steps + 1}.get(policy.width, steps)


def _first_width(policy: Policy, steps: int) -> int:
    """Micro-batches of the first window, if an epoch has so many."""
    own = {"early": 1, "first narrow": max(1, steps - 1), "late": steps + 1}
    return own.get(policy.width, _width(policy, steps))


def _weights(policy: Policy, sizes: list[int], steps: int) -> tuple[float, list[float]]:
    """A factor for the whole window and a weight for each of its micro-batches."""
    alike, by_samples = [1.0] * len(sizes), [float(size) for size in sizes]
    present, mean_size = len(sizes), sum(sizes) / len(sizes)
    divisor = steps if policy.divisor == "N" else present
    factor, weights = {
        "share": (1 / divisor / mean_size, by_samples),
        "mean": (1 / divisor, alike),
        "one": (1.0, alike),
        "ratio": (1.0, [size / mean_size for size in sizes]),
        "sum": (1.0, by_samples),
        "sum mean": (1 / divisor, by_samples),
    }[policy.weight]
    return factor / {"no": 1, "present": present, "N": steps}[policy.again], weights


def _rows_of(found: Fingerprint, rates: list[float]) -> list[Row]:
    rows = zip(found.row_epochs, found.coefficients.tolist(), rates, strict=True)
    return [(e, {k: v * rate for k, v in enumerate(row) if abs(v * rate) > MATCH}) for e, row, rate in rows]


def _predicts(policy: Policy, problem: Problem, rows: list[Row]) -> bool:
    pairs = itertools.zip_longest(predict(policy, problem), rows)
    return all(mine and row and _same(mine, row) for mine, row in pairs)


def _same(predicted: Row, found: Row) -> bool:
    (epoch, row), (found_epoch, found_row) = predicted, found
    return epoch == found_epoch and all(abs(row.get(k, 0.0) - found_row.get(k, 0.0)) <= MATCH for k in row.keys() | found_row)
