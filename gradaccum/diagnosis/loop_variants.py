"""The ways to write a training loop, right and wrong, as far as they decide which gradients reach an update.

A loop acts on ``.grad`` in few ways: it weights a micro-batch, adds it, clears, updates. A :class:`LoopVariant` says how one
loop does each of these; :func:`play` plays it with weights alone, no model and no tensor, and yields the fingerprint such a
loop would have.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol

from gradaccum.diagnosis.search import Candidate, Choices, combinations, fewest_first

MAX_MISTAKES = 4
"""In one loop; with more than these a fingerprint says little."""

Row = tuple[int, dict[int, float]]
"""The epoch of an update and its coefficients that are not zero, by micro-batch."""


class Schedule(Protocol):
    """What a loop is given, as far as it decides the weights: a :class:`~gradaccum.problems.Problem`, for instance.

    Attributes:
        accumulation_steps: N.
        epochs: for each epoch the sizes of its micro-batches.
    """

    @property
    def accumulation_steps(self) -> int: ...

    @property
    def epochs(self) -> tuple[tuple[int, ...], ...]: ...

    def __hash__(self) -> int: ...


class LoopVariant(NamedTuple):
    """One way to write a training loop. The defaults are right.

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
        second_divisor: of a second division: ``"none"``, those ``"present"``, or ``"N"``.
        tail: the leftover window is ``"applied"``, ``"dropped"``, ``"kept"`` for the next epoch, ``"applied and kept"``, or
            ``"carried"`` on: the next epoch completes it.
        short: an epoch of less than one window is ``"applied"``, ``"skipped"``, or applied although other leftovers are not
            (``"forced"``).
        graph: one for ``"each"`` micro-batch, or one ``"running"`` sum that goes through backward every time.
        weighted: what the weights multiply: the ``"loss"``, or what is in ``.grad`` at the update (``"grad"``).
    """

    width: str = "N"
    fetch: str = "each"
    clear: str = "window"
    weight: str = "share"
    divisor: str = "present"
    second_divisor: str = "none"
    tail: str = "applied"
    short: str = "applied"
    graph: str = "each"
    weighted: str = "loss"


CHOICES: Choices = {
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
    "weight": {
        "share": (),
        "mean": ("mean-of-means",),
        "one": ("no-scale",),
        "ratio": ("no-scale",),
        "sum": ("sum-reduction",),
        "sum mean": ("sum-reduction",),
    },
    "divisor": {"present": (), "N": ("tail-scale",)},
    "second_divisor": {"none": (), "present": ("double-scale",), "N": ("double-scale",)},
    "tail": {
        "applied": (),
        "dropped": ("tail-dropped",),
        "kept": ("tail-stale",),
        "applied and kept": ("tail-stale",),
        "carried": ("tail-stale",),
    },
    "short": {"applied": (), "skipped": ("short-epoch-no-step",), "forced": ()},
    "graph": {"each": (), "running": ("retained-graph",)},
    "weighted": {"loss": (), "grad": ()},
}
"""For each attribute of a loop its values and the mistakes they are."""

NEVER_APPLIED = ("dropped", "kept", "carried")
"""What becomes of a leftover window that makes no update of its own."""


@cache
def loop_variants() -> tuple[Candidate[LoopVariant], ...]:
    """All ways to write a loop, with the mistakes they make, fewest mistakes first."""
    return combinations(LoopVariant, CHOICES, is_distinct=is_distinct, moot=_moot, max_mistakes=MAX_MISTAKES)


@cache
def stale_loop_variants() -> tuple[Candidate[LoopVariant], ...]:
    """The same for loops that use what ``.grad`` held before they were called, which is a mistake of its own.

    A loop that never clears, or not between epochs, does not clear at the start either; that is not counted separately.
    """
    return fewest_first(
        Candidate(v, slugs if v.clear == "never" or gradient_survives_epoch(v) else (*slugs, "stale-start"))
        for v, slugs in loop_variants()
    )


def _moot(variant: LoopVariant) -> tuple[str, ...]:
    if variant.width == "every":  # with an update per micro-batch there is no window over which a mean was due
        return ("tail-scale", "mean-of-means", "no-scale")
    # A leftover that is never applied cannot be too small.
    return ("tail-scale",) if variant.tail in NEVER_APPLIED and variant.short != "forced" else ()


def is_distinct(v: LoopVariant) -> bool:
    """Whether a combination is a loop of its own and not another one under a different name."""
    survives = v.clear in ("never", "epoch") or gradient_survives_epoch(v)
    plain = v.tail == v.short == "applied" and v.graph == "each" and v.weighted == "loss"
    return (
        (v.clear != "outer" or v.width == "every")
        and (v.width != "every" or (plain and v.fetch == "each" and v.clear not in ("every", "before step")))
        and (v.fetch != "once" or (plain and v.width == "N" and v.divisor == "present" and v.second_divisor == "none"))
        and (v.fetch == "each" or v.weight != "mean")
        and (v.second_divisor == "none" or v.weight in ("share", "mean"))
        and (v.divisor == "present" or v.weight in ("share", "mean", "sum mean"))
        and (v.weighted == "loss" or (survives and v.weight in ("share", "mean", "sum mean")))
        and (v.short != "skipped" or v.tail == "applied")
        and (v.short != "forced" or v.tail in ("dropped", "kept"))
        and (v.tail != "carried" or counts_across_epochs(v))
        and {"dropped": v.clear != "never", "kept": v.clear in ("window", "never"), "applied": True}.get(
            v.tail, v.clear == "window"
        )
    )


def counts_across_epochs(v: LoopVariant) -> bool:
    """Whether a loop can count through all epochs: it then knows only N, not what a window will hold."""
    knows_only_n = v.weight in ("one", "sum") or (v.weight in ("mean", "sum mean") and v.divisor == "N")
    first_may_be_narrow = v.width in ("N", "early", "first narrow")
    return knows_only_n and first_may_be_narrow and v.fetch == v.graph == "each" and v.second_divisor == "none"


def gradient_survives_epoch(variant: LoopVariant) -> bool:
    """Whether the gradient of a leftover in ``.grad`` at the end of an epoch is still there at the beginning of the next."""
    return "kept" in variant.tail or variant.tail == "carried"


def play(variant: LoopVariant, problem: Schedule) -> Iterator[Row]:
    """The coefficients of each update of such a loop, without those of what ``.grad`` held before."""
    grad: dict[int, float] = {}
    steps, start, waiting = problem.accumulation_steps, 0, 0
    survives = gradient_survives_epoch(variant)
    for epoch, sizes in enumerate(problem.epochs):
        if variant.clear == "epoch" or (variant.clear == "window" and not survives):
            grad = {}
        width = _width(variant, steps)
        first = width - waiting if epoch and variant.tail == "carried" else _first_width(variant, steps)
        waiting = (len(sizes) - first) % width
        forced = variant.short == "forced" and len(sizes) < steps
        for full, window in _windows(variant, len(sizes), first, width):
            members = window if variant.fetch == "each" else [window[0]] * (steps if variant.fetch == "once" else len(window))
            factor, weights = _weights(variant, [sizes[k] for k in members], steps)
            unfinished = len(window) < full and not forced
            keeps = variant.clear in ("never", "epoch", "outer") or (unfinished and survives)
            if variant.clear == "outer":
                grad = {}
            for position in range(len(members)):
                if variant.clear == "every":
                    grad = {}
                counted = range(position + 1) if variant.graph == "running" else (position,)
                for j in counted:
                    column = start + members[j]
                    grad[column] = grad.get(column, 0.0) + weights[j] * (factor if variant.weighted == "loss" else 1.0)
                if variant.width == "every":
                    yield epoch, dict(grad)
                    grad = grad if keeps else {}
            if variant.width == "every":
                continue
            if (unfinished and variant.tail in NEVER_APPLIED) or (len(sizes) < steps and variant.short == "skipped"):
                grad = grad if keeps else {}
                continue
            if variant.clear == "before step":
                grad = {}
            if variant.weighted == "grad":
                grad = {k: value * factor for k, value in grad.items()}
            yield epoch, dict(grad)
            grad = grad if keeps else {}
        start += len(sizes)


def _windows(variant: LoopVariant, count: int, first: int, width: int) -> list[tuple[int, list[int]]]:
    """The windows of an epoch of ``count`` micro-batches, each with the width it has when it is full."""
    if variant.fetch == "once":
        return [(1, [k]) for k in range(count)]
    cuts = sorted({0, *range(first, count, width), count})
    return [(width if a else first, list(range(a, b))) for a, b in itertools.pairwise(cuts)]


def _width(variant: LoopVariant, steps: int) -> int:
    """Micro-batches of a window that is full and not the first."""
    return {"narrow": max(1, steps - 1), "wide": steps + 1}.get(variant.width, steps)


def _first_width(variant: LoopVariant, steps: int) -> int:
    """Micro-batches of the first window, if an epoch has so many."""
    own = {"early": 1, "first narrow": max(1, steps - 1), "late": steps + 1}
    return own.get(variant.width, _width(variant, steps))


def _weights(variant: LoopVariant, sizes: list[int], steps: int) -> tuple[float, list[float]]:
    """A factor for the whole window and a weight for each of its micro-batches."""
    present, samples = len(sizes), sum(sizes)
    factor = 1 / {"none": 1, "present": present, "N": steps}[variant.second_divisor]
    if variant.weight in ("share", "mean", "sum mean"):
        factor /= steps if variant.divisor == "N" else present
    if variant.weight == "share":
        factor *= present / samples
    if variant.weight in ("mean", "one"):
        return factor, [1.0] * present
    if variant.weight == "ratio":
        return factor, [size * present / samples for size in sizes]
    return factor, [float(size) for size in sizes]
