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
from autograder.mistakes import add_mistake
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
        "loss-never-restarted": lambda t: _running([sum(n * x for n, x, _ in w) for w in t.windows], _samples(t)),
        "loss-sum-never-restarted": lambda t: _over(_sums([sum(n * x for n, x, _ in w) for w in t.windows]), _samples(t)),
    },
    "samples_per_second": {
        "throughput-of-one-micro-batch": lambda t: [w[-1][0] / s for w, s in zip(t.windows, _seconds(t), strict=True)],
        "throughput-of-updates": lambda t: [1 / s for s in _seconds(t)],
        "throughput-of-micro-batches": lambda t: [len(w) / s for w, s in zip(t.windows, _seconds(t), strict=True)],
        "throughput-without-update": (
            lambda t: _over(_samples(t), [sum(s for *_, s in w) for w in t.windows]),
            lambda t: _over(
                _samples(t),
                [sum(s for *_, s in w) + before for w, before in zip(t.windows, (0, *t.seconds[:-1]), strict=True)],
            ),
        ),
        "throughput-without-first": lambda t: _over(
            _samples(t), [s - w[0][2] for w, s in zip(t.windows, _seconds(t), strict=True)]
        ),
        "throughput-turned-round": (_seconds, lambda t: _over(_seconds(t), _samples(t))),
        "throughput-since-start": lambda t: _running(_samples(t), _seconds(t)),
        "clock-never-restarted": lambda t: _over(_samples(t), _sums(_seconds(t))),
        "throughput-of-nominal-size": lambda t: [w[0][0] * len(w) / s for w, s in zip(t.windows, _seconds(t), strict=True)],
        "samples-never-restarted": lambda t: _over(_sums(_samples(t)), _seconds(t)),
    },
    "effective_batch": {
        "effective-batch-of-one": lambda t: [float(w[-1][0]) for w in t.windows],
        "effective-batch-in-micro-batches": lambda t: [float(len(w)) for w in t.windows],
        "throughput-of-nominal-size": lambda t: [float(w[0][0] * len(w)) for w in t.windows],
        "samples-never-restarted": lambda t: _sums(_samples(t)),
    },
}
"""By key and slug, what a meter with this mistake reports instead."""


def _samples(trial: MeterTrial) -> list[float]:
    """Of each window."""
    return [float(sum(n for n, *_ in window)) for window in trial.windows]


def _sums(values: Sequence[float]) -> list[float]:
    return [sum(values[: k + 1]) for k in range(len(values))]


def _running(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return _over(_sums(amounts), _sums(of))


def _over(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(amounts, of, strict=True)]


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


add_mistake(
    "graph-kept",
    "You keep losses as they come, and with each the graph of its micro-batch: memory grows for as long as you do.",
    "What of a loss do you need for a report, and what else hangs on it?",
)
add_mistake(
    "loss-never-restarted",
    "Your loss is a mean over all windows so far: it follows late and hides what happens now.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "loss-sum-never-restarted",
    "Your sum of losses goes on from window to window and is never set back, so the loss seems to rise.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "throughput-of-one-micro-batch",
    "You divide the samples of one micro-batch by the time of a whole window: N times too few samples per second.",
    "How many samples went through the model between two updates?",
)
add_mistake(
    "throughput-of-updates",
    "You report updates per second, which change when N does, though nothing has become faster.",
    "Which number can you compare between two runs with another N?",
)
add_mistake(
    "throughput-of-micro-batches",
    "You report micro-batches per second, which change when B does, though nothing has become faster.",
    "Which number can you compare between two runs with another B?",
)
add_mistake(
    "throughput-without-update",
    "Your clock stops at the last micro-batch, so the time of the window's own update is missing.",
    "From which moment to which does a window last? The time of an update belongs to it.",
)
add_mistake(
    "throughput-without-first",
    "Your clock starts in the first call of micro_batch, when the first forward and backward pass are already over.",
    "When does a window begin? Which call comes last before that?",
)
add_mistake(
    "throughput-turned-round",
    "You report how long it takes, not how many samples there are in a second.",
    "Which of two numbers is divided by the other?",
)
add_mistake(
    "throughput-since-start",
    "Your throughput is an average since the start: it hardly moves when the run slows down.",
    "Over which samples and which seconds should this window's number be?",
)
add_mistake(
    "clock-never-restarted",
    "You divide the samples of one window by the time since the start, so throughput seems to fall with every window.",
    "When does the clock of the second window start?",
)
add_mistake(
    "samples-never-restarted",
    "Your count of samples goes on from window to window and is never set back.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "throughput-of-nominal-size",
    "You count every micro-batch as if it had the size of the first: ragged ones hold fewer samples.",
    "You are told the samples of every micro-batch. Who adds them up?",
)
add_mistake(
    "effective-batch-of-one",
    "You report the size of a micro-batch as the effective batch size.",
    "Over how many samples does an update average?",
)
add_mistake(
    "effective-batch-in-micro-batches",
    "You report how many micro-batches an update has seen, not how many samples.",
    "Over how many samples does an update average?",
)
