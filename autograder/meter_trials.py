"""Driving a meter of a run with a clock of our own: what it should report, and what wrong meters report."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autograder.call_trials import plain
from autograder.exercise import Observation
from gradaccum.problems import best_dtype

KEYS = ("loss", "samples_per_second", "effective_batch", "lr")


@dataclass(frozen=True)
class MeterTrial:
    """A run as a meter sees it.

    Attributes:
        windows: for each, the samples, mean loss and seconds of each micro-batch.
        seconds: what each update takes.
        rates: of each update.
        start: what the clock shows when the meter is made.
        device: where losses are.
    """

    windows: tuple[tuple[tuple[int, float, float], ...], ...]
    seconds: tuple[float, ...]
    rates: tuple[float, ...]
    start: float
    device: str


def observe_meter(make: Callable, trial: MeterTrial) -> Observation:
    """Let time pass, tell the meter about micro-batches and updates, and bring back its reports.

    ``kept`` counts the graphs of micro-batches that are still alive when their window is over, ``clock_asked`` the questions
    to the clock.
    """
    now = trial.start

    def clock() -> float:
        nonlocal asked
        asked += 1
        return now

    reports, kept, asked = [], 0, 0
    meter = make(clock)
    for window, update_takes, rate in zip(trial.windows, trial.seconds, trial.rates, strict=True):
        graphs = []
        for samples, value, takes in window:
            loss, graph = _loss(value, trial.device)
            graphs.append(graph)
            now += takes
            meter.micro_batch(loss, samples)
            del loss
        now += update_takes
        reports.append(meter.update(rate))
        kept += sum(graph() is not None for graph in graphs)
    return Observation(facts={"reports": [_plain(report) for report in reports], "kept": kept, "clock_asked": asked})


def _loss(value: float, device: str) -> tuple[torch.Tensor, weakref.ref]:
    """A loss of this value with a graph, and a reference to something that lives as long as the graph."""
    anchor = _Anchor()
    weight = torch.tensor(value, dtype=getattr(torch, best_dtype(device)), device=device, requires_grad=True)
    return _Anchored.apply(weight, anchor), weakref.ref(anchor)


class _Anchor:
    pass


class _Anchored(torch.autograd.Function):
    """The identity; its node of the graph holds on to an object."""

    @staticmethod
    def forward(context, value, anchor):
        context.anchor = anchor
        return value.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient, None


def _plain(report: object) -> Any:
    try:
        return plain(report)
    except (TypeError, ValueError, RuntimeError, RecursionError):
        return type(report).__name__


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
    """What each window takes, its update included."""
    return [sum(t for *_, t in window) + update for window, update in zip(trial.windows, trial.seconds, strict=True)]


CLOSE = 1e-5
"""Relative difference up to which numbers are the same: losses kept in float32 leave 1e-7, sums of small times less; wrong
meters differ by more than 1 %."""


def reported(seen: Observation, key: str) -> list[float] | None:
    """What the meter reported under a key, one number for each window; None if it did not."""
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
    """The first number under a key that is not the one due, in words."""
    for name, trial in trials.items():
        pairs = zip(reported(observations[name], key) or (), due(trial)[key], strict=False)
        for k, (yours, right) in enumerate(pairs, 1):
            if not same([yours], [right]):
                return (
                    f"The numbers under {key!r} are not those of the windows. {name}, window {k}: {yours:.4g}, due {right:.4g}."
                )
    return f"The numbers under {key!r} are not those of the windows."
