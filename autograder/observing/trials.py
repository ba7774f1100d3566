"""Run a student's function on the trials of an exercise and note what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autograder.contract.devices import full_precision
from autograder.contract.observation import SECONDS, Observation
from autograder.observing.student_calls import guarded

Observer = Callable[[Callable, Any], Observation]
"""Runs a student's function on one trial. Whatever that raises is turned into a failure by :func:`observe_trials`."""


def observe_trials(
    observer: Observer,
    function: Callable,
    trials: Mapping[str, Any],
    seconds: float = SECONDS,
    before: Callable[[str], None] = lambda trial: None,
) -> dict[str, Observation]:
    """Run a student's function on all trials of an exercise, each in at most ``seconds``, and announce each to ``before``.

    A trial that raises, or exceeds its time, is observed as a :class:`Failure`. After one that exceeded its time the rest
    is not run, since it would take as long, nor after a first one that says the function is not written; what was observed
    before keeps its points.
    """
    observations: dict[str, Observation] = {}
    for name, trial in trials.items():
        before(name)
        with full_precision():
            observation = guarded(lambda trial=trial: observer(function, trial), seconds)
        unwritten = not observations and observation.failure and observation.failure.kind == "unwritten"
        observations[name] = observation
        if unwritten or (observation.failure and observation.failure.kind == "time"):
            return dict.fromkeys(trials, observation) | observations
    return observations
