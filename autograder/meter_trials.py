"""Driving a meter of a run with a clock of our own: what it should report, and what wrong meters report."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autograder.call_trials import plain
from autograder.exercise import Observation
from gradaccum.problems import best_dtype

Formula = Callable[["MeterTrial"], list[float]]
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

    ``kept`` counts the graphs of micro-batches that are still alive when their window is over.
    """
    now = trial.start

    def clock() -> float:
        return now

    reports, kept = [], 0
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
    return Observation(facts={"reports": [_plain(report) for report in reports], "kept": kept})


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
        "samples_per_second": [sum(s) / t for s, t in zip(sizes, _seconds(trial), strict=True)],
        "effective_batch": [float(sum(s)) for s in sizes],
        "lr": list(trial.rates),
    }


def _seconds(trial: MeterTrial) -> list[float]:
    """What each window takes, its update included."""
    return [sum(t for *_, t in window) + update for window, update in zip(trial.windows, trial.seconds, strict=True)]


WRONG: dict[str, dict[str, Formula | tuple[Formula, ...]]] = {
    "loss": {
        "loss-scaled-in-log": (
            lambda t: [sum(x for _, x, _ in w) / len(w) ** 2 for w in t.windows],
            lambda t: [w[-1][1] / len(w) for w in t.windows],
            lambda t: [loss / len(w) for loss, w in zip(due(t)["loss"], t.windows, strict=True)],
        ),
        "loss-of-last": lambda t: [w[-1][1] for w in t.windows],
        "loss-mean-of-means": lambda t: [sum(x for _, x, _ in w) / len(w) for w in t.windows],
        "loss-summed": lambda t: [sum(x for _, x, _ in w) for w in t.windows],
        "loss-never-restarted": lambda t: _running(
            [sum(n * x for n, x, _ in w) for w in t.windows], [sum(n for n, *_ in w) for w in t.windows]
        ),
    },
    "samples_per_second": {
        "throughput-of-one-micro-batch": lambda t: [w[-1][0] / s for w, s in zip(t.windows, _seconds(t), strict=True)],
        "throughput-of-updates": lambda t: [1 / s for s in _seconds(t)],
        "throughput-of-micro-batches": lambda t: [len(w) / s for w, s in zip(t.windows, _seconds(t), strict=True)],
        "throughput-without-update": lambda t: [sum(n for n, *_ in w) / sum(s for *_, s in w) for w in t.windows],
        "throughput-since-start": lambda t: _running([sum(n for n, *_ in w) for w in t.windows], _seconds(t)),
        "clock-never-restarted": lambda t: [
            sum(n for n, *_ in w) / s for w, s in zip(t.windows, _sums(_seconds(t)), strict=True)
        ],
        "throughput-of-nominal-size": lambda t: [w[0][0] * len(w) / s for w, s in zip(t.windows, _seconds(t), strict=True)],
        "samples-never-restarted": lambda t: [
            n / s for n, s in zip(_sums([sum(n for n, *_ in w) for w in t.windows]), _seconds(t), strict=True)
        ],
    },
    "effective_batch": {
        "effective-batch-of-one": lambda t: [float(w[-1][0]) for w in t.windows],
        "effective-batch-in-micro-batches": lambda t: [float(len(w)) for w in t.windows],
        "throughput-of-nominal-size": lambda t: [float(w[0][0] * len(w)) for w in t.windows],
        "samples-never-restarted": lambda t: _sums([float(sum(n for n, *_ in w)) for w in t.windows]),
    },
}
"""By key and slug, what a meter with this mistake reports instead."""


def _sums(values: Sequence[float]) -> list[float]:
    return [sum(values[: k + 1]) for k in range(len(values))]


def _running(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(_sums(amounts), _sums(of), strict=True)]


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


def wrong_slug(trials: Sequence[MeterTrial], observations: Sequence[Observation], key: str) -> str | None:
    """The mistake that explains a key on every trial."""
    for slug, formulas in WRONG.get(key, {}).items():
        for formula in formulas if isinstance(formulas, tuple) else (formulas,):
            if all(same(reported(seen, key), formula(trial)) for trial, seen in zip(trials, observations, strict=True)):
                return slug
    return None
