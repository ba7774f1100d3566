"""Mark one function: make trials, observe, judge. ``check`` does all of it in one process; a marker observes in another one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from autograder.contract.devices import full_precision
from autograder.contract.exercise import Exercise
from autograder.contract.observation import TRIAL_SECONDS, Failure, Observation
from autograder.contract.verdict import Verdict
from autograder.exercises import observers_of
from autograder.isolation.wire import plain
from autograder.observing.trials import observe_trials
from autograder.support.seeds import trial_seed
from gradaccum.threads import one_thread


def trials_of(exercise: Exercise, seed: int, device: str = "cpu") -> Mapping[str, Any]:
    """What an exercise's function is run on, by name: the same for the same seed, which cannot be read out of them."""
    return exercise.trials(trial_seed(exercise.id, seed), device)


def observe_function(
    exercise: Exercise, function: Callable, trials: Mapping[str, Any], seconds: float = TRIAL_SECONDS
) -> dict[str, Observation]:
    """What a function returned on each trial, as plain data, observed in this process."""
    observations = observe_trials(observers_of(exercise.unit)[exercise.id], function, trials, seconds)
    return {name: plain(observation) for name, observation in observations.items()}


def judge_observations(exercise: Exercise, trials: Mapping[str, Any], observations: Mapping[str, Observation]) -> Verdict:
    """The verdict on what was observed on these trials."""
    missing = [name for name in trials if name not in observations]
    if missing:
        return exercise.failed(Failure("died", "Your code crashed the process it ran in."))
    failures = [o.failure for o in observations.values() if o.failure and o.failure.kind != "raised"]
    if len(failures) == len(observations):
        return exercise.failed(failures[0])
    with full_precision(), warnings.catch_warnings():
        # Warnings come from the wrong loops we run for comparison; nbgrader treats any line on stderr as an error.
        warnings.simplefilter("ignore")
        return exercise.judge(trials, observations)


def mark_function(exercise: Exercise, function: Callable, seed: int = 0, device: str = "cpu") -> Verdict:
    """Observe and judge in this process, as ``check`` does at a student's desk."""
    with one_thread():
        trials = trials_of(exercise, seed, device)
        return judge_observations(exercise, trials, observe_function(exercise, function, trials))
