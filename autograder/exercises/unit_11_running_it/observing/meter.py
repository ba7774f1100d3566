"""Driving a student's meter with a clock of our own, and recording its reports."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch

from autograder.contract.observation import Observation
from autograder.observing.calls import plain
from gradaccum.problems import best_dtype

KEYS = ("loss", "samples_per_second", "effective_batch", "lr")

OTHERS_LOSS, OTHERS_SAMPLES = 1000.0, 1000
"""What another meter is told of each micro-batch meanwhile."""

RANKS = {"WORLD_SIZE": "8", "RANK": "3", "LOCAL_RANK": "3"}
"""What torchrun tells each process, though a report is about its own rank."""

OTHERS_AHEAD = 5000.0
"""Seconds by which another meter's clock is ahead."""


@dataclass(frozen=True)
class MeterTrial:
    """A run as a meter sees it.

    Attributes:
        windows: for each, the samples, mean loss and seconds of each micro-batch.
        seconds: what each update takes.
        rates: of each update.
        start: what the clock shows when the meter is created.
        device: where losses are.
    """

    windows: tuple[tuple[tuple[int, float, float], ...], ...]
    seconds: tuple[float, ...]
    rates: tuple[float, ...]
    start: float
    device: str


def observe_meter(make: Callable, trial: MeterTrial) -> Observation:
    """Let time pass, tell the meter about micro-batches and updates, and return its reports.

    ``kept`` counts the graphs of micro-batches that are still alive when their window is over, ``clock_asked`` how often the
    meter read the clock, ``intact`` says whether it left the losses as they were, ``new`` whether each report is an object of
    its own, and ``written_over`` whether all are one, which says something else in the end than when it was returned. Another
    meter is there, whose clock shows another time and which is told something else. Variables of the environment say that the
    process is one of eight ranks.
    """
    with mock.patch.dict(os.environ, RANKS):
        return _observe(make, trial)


def _observe(make: Callable, trial: MeterTrial) -> Observation:
    now, kept, asked, intact = trial.start, 0, 0, True
    reports: list[object] = []
    at_once: list[Any] = []

    def clock() -> float:
        nonlocal asked
        asked += 1
        return now

    meter, other = make(clock), make(lambda: now + OTHERS_AHEAD)
    for window, update_takes, rate in zip(trial.windows, trial.seconds, trial.rates, strict=True):
        graphs = []
        for samples, value, takes in window:
            loss, graph = _loss(value, trial.device)
            graphs.append(graph)
            before, of = loss.item(), loss.grad_fn  # there is none if the meter has switched gradients off
            now += takes
            if of is not None:
                loss.backward()
            meter.micro_batch(loss, samples)
            intact = intact and loss.grad_fn is of and loss.item() == before
            other.micro_batch(_loss(OTHERS_LOSS, trial.device)[0], OTHERS_SAMPLES)
            del loss, of
        now += update_takes
        reports.append(meter.update(rate))
        at_once.append(_plain(reports[-1]))
        kept += sum(graph() is not None for graph in graphs)
    objects = len(set(map(id, reports)))
    in_the_end = [_plain(report) for report in reports]
    facts = {
        "reports": in_the_end,
        "kept": kept,
        "clock_asked": asked,
        "intact": intact,
        "new": objects == len(reports),
        "written_over": objects == 1 and repr(in_the_end) != repr(at_once),  # NaN is not NaN, but is written like it
    }
    return Observation(facts=facts)


def _loss(value: float, device: str) -> tuple[torch.Tensor, weakref.ref[_Anchor]]:
    """A loss of this value with a graph, and a weak reference to an object that lives as long as the graph."""
    anchor = _Anchor()
    weight = torch.tensor(value, dtype=getattr(torch, best_dtype(device)), device=device, requires_grad=True)
    return _Anchored.apply(weight, anchor), weakref.ref(anchor)


class _Anchor:
    """An object to which a weak reference can be held."""


class _Anchored(torch.autograd.Function):
    """The identity; its node of the graph holds on to an object, and like most others it can be used for one backward pass."""

    @staticmethod
    def forward(context: Any, value: torch.Tensor, anchor: _Anchor) -> torch.Tensor:
        context.anchor = anchor
        context.save_for_backward(value)
        return value.clone()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        context.saved_tensors  # noqa: B018 - raises if they have been freed
        return gradient, None


def _plain(report: object) -> Any:
    """What a report says under the keys that are due, as JSON has it; the name of its type if it is no dictionary."""
    if not isinstance(report, dict):
        return type(report).__name__
    return {key: _plain_number(report[key]) for key in KEYS if key in report}


def _plain_number(value: object) -> Any:
    """A number, or a tensor with one, as a Python number."""
    try:
        return plain(value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value)
    except TypeError:
        return None
