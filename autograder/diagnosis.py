"""Name the mistakes in a loop from its fingerprint.

A loop acts on ``.grad`` in few ways: it weighs a micro-batch, adds it, clears, updates. A :class:`Policy` says how one loop
does each of these; :func:`predict` plays it with weights alone, no model and no tensor, and yields the fingerprint such a
loop would have. Diagnosis is a search for the policy with the fewest mistakes that predicts the fingerprint found: nothing
is guessed from text or from error messages, and mistakes made together are found together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields

from gradaccum.fingerprint import Fingerprint
from gradaccum.problems import Problem

MATCH = 1e-4
"""Largest difference of a coefficient from its prediction. Different policies differ by more than 1e-2, rounding in float64
is below 1e-9, summing in float32 below 1e-6."""

Rows = list[tuple[int, dict[int, float]]]
"""For each update its epoch and the coefficients that are not zero."""


@dataclass(frozen=True)
class Policy:
    """How a loop goes about its work. The defaults are a right loop.

    Attributes:
        width: which windows it makes: ``"N"``, ``"every"`` (each micro-batch), ``"early"`` (first one is 1 wide),
            ``"late"`` (first one is N + 1 wide).
        fetch: ``"each"`` micro-batch, ``"first"`` of the window N times, or ``"once"`` (each N times, a window each).
        clear: every ``"window"``, ``"every"`` backward, ``"never"``, every ``"epoch"``, ``"before step"``.
        weight: of a micro-batch: ``"share"`` of samples, ``"mean"`` (all alike), ``"one"``, ``"sum"`` (its samples),
            ``"sum mean"`` (its samples over micro-batches), ``"share twice"``, ``"mean twice"``.
        divisor: micro-batches that a division counts: ``"present"`` in the window, or always ``"N"``.
        tail: the leftover window is ``"applied"``, ``"dropped"``, ``"kept"`` for the next epoch, or both applied and kept.
        short: an epoch of less than one window is ``"applied"`` or ``"skipped"``.
        graph: one for each micro-batch, or one ``"running"`` sum that goes through backward every time.
        scaled: weights act on the ``"loss"``, or on what is in ``.grad`` at the update.
    """

    width: str = "N"
    fetch: str = "each"
    clear: str = "window"
    weight: str = "share"
    divisor: str = "present"
    tail: str = "applied"
    short: str = "applied"
    graph: str = "each"
    scaled: str = "loss"


CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "width": {"N": (), "every": ("step-every",), "early": ("off-by-one-early",), "late": ("off-by-one-late",)},
    "fetch": {"each": (), "first": ("same-batch-repeated",), "once": ("same-batch-repeated",)},
    "clear": {
        "window": (),
        "every": ("zero-every",),
        "never": ("never-zero",),
        "epoch": ("never-zero",),
        "before step": ("zero-before-step",),
    },
    "tail": {"applied": (), "kept": ("tail-stale",), "applied, kept": ("tail-stale",), "dropped": ("tail-dropped",)},
    "short": {"applied": (), "skipped": ("short-epoch-no-step",)},
    "divisor": {"present": (), "N": ("tail-scale",)},
    "weight": {
        "share": (),
        "mean": ("mean-of-means",),
        "one": ("no-scale",),
        "sum": ("sum-reduction",),
        "sum mean": ("sum-reduction",),
        "share twice": ("double-scale",),
        "mean twice": ("double-scale", "mean-of-means"),
    },
    "graph": {"each": (), "running": ("retained-graph",)},
    "scaled": {"loss": (), "grad": ()},
}
"""For each attribute of a policy its values and the mistakes they are."""


def name_mistakes(found: Fingerprint, problem: Problem, forwards: int | None = None) -> tuple[str, ...] | None:
    """The slugs of the simplest policy that has this fingerprint, or None if none has.

    Args:
        found: read with frozen parameters.
        problem: what the loop ran on; it should have leftovers, a short epoch, ragged micro-batches and a stale start, or
            some mistakes cannot be told from a right loop.
        forwards: how many forwards were seen, if any; tells loops apart that differ in nothing else.
    """
    if not found.linear:
        return None
    rows = _rows_of(found)
    slowed = any(abs(rate - 1) > MATCH for rate in found.rates.tolist())
    matches = []
    for policy, slugs in policies():
        if matches and len(slugs) > len(matches[0][1]):
            break
        if _same(predict(policy, problem), rows):
            matches.append((policy, slugs))
    if not matches:
        return None
    policy, slugs = _most_likely(matches, problem, forwards)
    if slowed:
        slugs = tuple("lr-scaled-too" if slug == "double-scale" else slug for slug in slugs)
    starts_dirty = found.stale is not None and bool(found.stale.abs().max() > MATCH)
    if starts_dirty and policy.clear != "never" and "kept" not in policy.tail:
        slugs = (*slugs, "stale-start")
    return slugs


def policies() -> Iterator[tuple[Policy, tuple[str, ...]]]:
    """All policies with the mistakes they make, fewest mistakes first."""
    names = [field.name for field in fields(Policy)]
    everything = []
    for values in itertools.product(*(CHOICES[name] for name in names)):
        if (slugs := _slugs(dict(zip(names, values, strict=True)))) is not None:
            everything.append((Policy(*values), slugs))
    everything.sort(key=lambda entry: len(entry[1]))
    yield from (entry for entry in everything if len(entry[1]) <= 4)


def _slugs(values: dict[str, str]) -> tuple[str, ...] | None:
    """The mistakes of a combination; None for combinations that are another one under a different name."""
    if values["width"] == "every":
        # With an update per micro-batch there is no window whose scale could be right or wrong.
        alone = values["fetch"] == "each" and values["tail"] == values["short"] == "applied" and values["graph"] == "each"
        return ("step-every",) if alone and values["clear"] == "window" else None
    if values["fetch"] == "once" and any(values[k] != v for k, v in _PLAIN.items()):
        return None
    slugs: list[str] = []
    for name, value in values.items():
        slugs += CHOICES[name][value]
    return tuple(dict.fromkeys(slugs))


_PLAIN = {"width": "N", "clear": "window", "tail": "applied", "short": "applied", "graph": "each", "scaled": "loss"}


def predict(policy: Policy, problem: Problem) -> Rows:
    """Play a policy: the coefficients of each update, without those of a stale start."""
    grad: dict[int, float] = {}
    rows: Rows = []
    start = 0
    for epoch, sizes in enumerate(problem.epochs):
        if policy.clear == "epoch" or (policy.clear == "window" and "kept" not in policy.tail):
            grad = {}
        for width, window in _windows(policy, len(sizes), problem.accumulation_steps):
            members = [window[0]] * len(window) if policy.fetch == "first" else window
            factor, weights = _weights(policy, [sizes[k] for k in members], problem.accumulation_steps)
            if policy.scaled == "loss":
                factor, weights = 1.0, [weight * factor for weight in weights]
            for position, _k in enumerate(members):
                if policy.clear == "every":
                    grad = {}
                counted = range(position + 1) if policy.graph == "running" else (position,)
                for j in counted:
                    column = start + members[j]
                    grad[column] = grad.get(column, 0.0) + weights[j]
            leftover = len(window) < width
            skipped = leftover and policy.tail in ("kept", "dropped")
            skipped |= len(sizes) < problem.accumulation_steps and policy.short == "skipped"
            keeps = policy.clear in ("never", "epoch") or (leftover and "kept" in policy.tail)
            if skipped:
                grad = grad if keeps else {}
                continue
            if policy.clear == "before step":
                grad = {}
            grad = {k: v * factor for k, v in grad.items()}
            rows.append((epoch, dict(grad)))
            if not keeps:
                grad = {}
        start += len(sizes)
    return rows


def _windows(policy: Policy, count: int, steps: int) -> list[tuple[int, list[int]]]:
    """The windows of an epoch of ``count`` micro-batches, each with the width it has when it is full."""
    if policy.fetch == "once" or policy.width == "every":
        return [(1, [k]) for k in range(count)]
    first = {"N": steps, "early": 1, "late": steps + 1}[policy.width]
    cuts = sorted({0, *range(first, count, steps), count})
    return [(steps if a else first, list(range(a, b))) for a, b in itertools.pairwise(cuts)]


def _weights(policy: Policy, sizes: list[int], steps: int) -> tuple[float, list[float]]:
    """A factor for the whole window and a weight for each of its micro-batches."""
    alike = [1.0] * len(sizes)
    if policy.fetch == "once":
        return 1.0, alike
    if policy.width == "every":
        # Two usual scales of a loop that updates every micro-batch: its own mean, or 1/N.
        return (1.0 if policy.divisor == "present" else 1 / steps), alike
    by_samples = [float(size) for size in sizes]
    divisor = steps if policy.divisor == "N" else len(sizes)
    share = len(sizes) / divisor / sum(sizes)
    return {
        "share": (share, by_samples),
        "mean": (1 / divisor, alike),
        "one": (1.0, alike),
        "sum": (1.0, by_samples),
        "sum mean": (1 / divisor, by_samples),
        "share twice": (share / divisor, by_samples),
        "mean twice": (1 / divisor**2, alike),
    }[policy.weight]


def _rows_of(found: Fingerprint) -> Rows:
    """Coefficients of what was applied: of the gradient, times the rate used over the rate given."""
    rows = (found.coefficients * found.rates[:, None]).tolist()
    return [(e, {k: v for k, v in enumerate(row) if abs(v) > MATCH}) for e, row in zip(found.row_epochs, rows, strict=True)]


def _same(predicted: Rows, found: Rows) -> bool:
    if len(predicted) != len(found):
        return False
    for (epoch, row), (found_epoch, found_row) in zip(predicted, found, strict=True):
        if epoch != found_epoch or any(abs(row.get(k, 0.0) - found_row.get(k, 0.0)) > MATCH for k in row.keys() | found_row):
            return False
    return True


def _most_likely(matches: list, problem: Problem, forwards: int | None):
    """Of explanations equally simple, the one whose number of forwards was seen; else the first."""
    micro_batches = sum(len(sizes) for sizes in problem.epochs)
    repeated = forwards is not None and forwards > micro_batches
    return next((m for m in matches if (m[0].fetch == "once") == repeated), matches[0])
