"""Run a student's function on the trials of an exercise and record what happens."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from autograder.contract.devices import full_precision
from autograder.contract.observation import TRIAL_SECONDS, Failure, Observation
from autograder.observing.kept_between_calls import Keeping
from autograder.observing.student_calls import guarded
from autograder.observing.traces import noting, seeding_noted

NOT_IMPLEMENTED = Failure("raised", "Your code raised NotImplementedError.")

Observer = Callable[[Callable, Any], Observation]
"""Runs a student's function on one trial. If that raises, :func:`observe_trials` makes a failure of it."""


def observe_trials(
    observer: Observer,
    function: Callable,
    trials: Mapping[str, Any],
    seconds: float = TRIAL_SECONDS,
    before: Callable[[str], None] = lambda trial: None,
) -> dict[str, Observation]:
    """Run a student's function on all trials of an exercise, each in at most ``seconds``; return the observations by trial.

    Each trial is announced to ``before``, and observed on a copy: a function may change its arguments in place, and must not be
    judged by what it made of them. A trial that raises, or exceeds its time, is observed as a failure. After one that
    exceeded its time the others are not run, since they would take as long, nor after a first one that says the function is not
    written; what was observed before keeps its points. All trials begin with the same settings of torch.
    """
    observations: dict[str, Observation] = {}
    watched, keeping = noting(function), Keeping(function)
    if isinstance(function, type):  # which is used by and by, not called once
        observer = seeding_noted()(observer)
    observer = keeping.noted(observer)
    for name, trial in trials.items():
        before(name)
        with full_precision():
            observation = guarded(partial(observer, watched, copy.deepcopy(trial)), seconds)
        unwritten = observation.failure and observation.failure.kind == "unwritten"
        if unwritten and observations:  # what it did before is written, so this is an error like others
            unwritten, observation = False, replace(observation, failure=NOT_IMPLEMENTED)
        observations[name] = observation
        if unwritten or (observation.failure and observation.failure.kind == "time"):
            return dict.fromkeys(trials, observation) | observations
    return observations
