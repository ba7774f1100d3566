"""What a meter of a run should report, and how a report is compared with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from autograder.contract.observation import Observation
from autograder.exercises.unit_11_running_it.observing.meter import MeterTrial
from autograder.judging.number_relations import rows_relation
from autograder.support.side_by_side import side_by_side


def due(trial: MeterTrial) -> dict[str, list[float]]:
    """What should be reported for each window, by key."""
    sizes = [[samples for samples, *_ in window] for window in trial.windows]
    return {
        "loss": [sum(n * loss for n, loss, _ in window) / sum(n for n, *_ in window) for window in trial.windows],
        "samples_per_second": [sum(s) / t for s, t in zip(sizes, seconds_of(trial), strict=True)],
        "effective_batch": [float(sum(s)) for s in sizes],
        "lr": list(trial.rates),
    }


def seconds_of(trial: MeterTrial) -> list[float]:
    """The duration of each window, its update included."""
    return [sum(t for *_, t in window) + update for window, update in zip(trial.windows, trial.seconds, strict=True)]


CLOSE = 1e-5
"""Relative difference up to which numbers are the same: losses kept in float32 leave 1e-7, sums of small times less; wrong
meters differ by more than 1 %."""


def reported(seen: Observation, key: str) -> list[float] | None:
    """What the meter reported under a key, one number for each window; None if it did not report numbers."""
    reports = seen.facts.get("reports")
    if not isinstance(reports, list) or not all(isinstance(report, dict) for report in reports):
        return None
    values = [report.get(key) for report in reports]
    fine = all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in values)
    return [float(v) for v in values] if fine else None


def same(found: Sequence[float] | None, other: Sequence[float]) -> bool:
    """Whether two rows of numbers agree, up to :data:`CLOSE`."""
    return (
        found is not None
        and len(found) == len(other)
        and all(math.isclose(a, b, rel_tol=CLOSE) for a, b in zip(found, other, strict=True))
    )


def difference(trials: Mapping[str, MeterTrial], observations: Mapping[str, Observation], key: str) -> str:
    """The first number under a key that is not the one due, in words for students."""
    for name, trial in trials.items():
        pairs = zip(reported(observations[name], key) or (), due(trial)[key], strict=False)
        for k, (yours, right) in enumerate(pairs, 1):
            if not same([yours], [right]):
                found = [reported(observations[name], key) or () for name in trials]
                wanted = [due(trial)[key] for trial in trials.values()]
                words = rows_relation(found, wanted, f"Each number under {key!r}", CLOSE, called="run")
                here, there = side_by_side(yours, right)
                return (
                    f"The numbers under {key!r} are not those of the windows. {name}, window {k}: {here}, due {there}."
                    f"{words and f' {words}'}"
                )
    return f"The numbers under {key!r} are not those of the windows."
