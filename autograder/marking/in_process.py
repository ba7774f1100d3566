"""Mark one function: make trials, observe, judge. ``check`` does all of it in one process; a marker observes in another one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.contract.devices import full_precision
from autograder.contract.exercise import Exercise
from autograder.contract.observation import FAULT, TRIAL_SECONDS, Failure, Observation
from autograder.contract.verdict import Fault, Verdict
from autograder.exercises import observers_of, schemas_of
from autograder.isolation.wire import plain
from autograder.marking.faults import fault_of
from autograder.observing.trials import observe_trials
from autograder.support.bounds import TimeBoundError, bounded
from autograder.support.seeds import trial_seed
from gradaccum.threads import one_thread


def trials_of(exercise: Exercise, seed: int, device: str = "cpu") -> Mapping[str, Any]:
    """What an exercise's function is run on, by name: the same for the same seed, which cannot be read out of them."""
    return exercise.trials(trial_seed(exercise.id, seed), device)


def trials_or_fault(exercise: Exercise, seed: int, device: str = "cpu") -> Mapping[str, Any] | Fault:
    """The same, or why there are none."""
    try:
        return trials_of(exercise, seed, device)
    except Exception as error:
        return fault_of(error)


def observe_function(
    exercise: Exercise, function: Callable, trials: Mapping[str, Any], seconds: float = TRIAL_SECONDS
) -> dict[str, Observation]:
    """What a function returned on each trial, as plain data, observed in this process."""
    observations = observe_trials(observers_of(exercise.unit)[exercise.id], function, trials, seconds)
    return {name: plain(observation) for name, observation in observations.items()}


def admitted(exercise: Exercise, trials: Mapping[str, Any], observations: Mapping[str, Observation]) -> dict[str, Observation]:
    """The observations as they are judged: what no function can have brought about is a failure of its trial."""
    schema = schemas_of(exercise.unit)[exercise.id]
    return {name: schema(trial).admitted(observations[name]) for name, trial in trials.items()}


JUDGING_SECONDS = 120.0
"""Seconds of work in which an exercise must be judged. The slowest verdicts, on unusual runs of the capstone, take a tenth."""

JUDGING_BYTES = 2 * 2**30
"""Bytes that judging may take in addition. What it needs follows from the trials and the schema, and is a tenth of this."""


def judge_observations(exercise: Exercise, trials: Mapping[str, Any], observations: Mapping[str, Observation]) -> Verdict:
    """The verdict on what was observed on these trials. If judging fails, the exercise is unmarked: that is our fault."""
    try:
        with bounded(JUDGING_SECONDS, JUDGING_BYTES), full_precision(), warnings.catch_warnings():
            # Warnings come from the wrong loops we run for comparison; nbgrader treats any line on stderr as an error.
            warnings.simplefilter("ignore")
            return _judged(exercise, trials, observations)
    except (Exception, TimeBoundError) as error:
        return exercise.unmarked(fault_of(error))


def _judged(exercise: Exercise, trials: Mapping[str, Any], observations: Mapping[str, Observation]) -> Verdict:
    if any(name not in observations for name in trials):
        return exercise.failed(Failure("died", "Your code crashed the process it ran in."))
    said = (seen.failure.message for seen in observations.values() if seen.failure and seen.failure.kind == FAULT)
    if fault := next(said, ""):  # or a submission says so, which earns it nothing
        return exercise.unmarked(Fault(fault.partition(", called in ")[0], f"While {exercise.id} was observed: {fault}"))
    observations = admitted(exercise, trials, observations)
    failures = [o.failure for o in observations.values() if o.failure and o.failure.kind != "raised"]
    if len(failures) == len(observations):
        return exercise.failed(failures[0])
    verdict = exercise.judge(trials, observations)
    verdict = exercise.with_trace(verdict, next((seen.trace for seen in observations.values() if seen.trace), ""))
    return exercise.with_kept(verdict, next((seen.kept for seen in observations.values() if seen.kept), ""))


def device_for(exercises: Sequence[Exercise], device: str) -> str:
    """Where these exercises are marked if a device is asked for: on the CPU if they all compute only there."""
    return "cpu" if all(exercise.cpu_only for exercise in exercises) else device


def mark_function(exercise: Exercise, function: Callable, seed: int = 0, device: str = "cpu") -> Verdict:
    """Observe and judge in this process, as ``check`` does at a student's desk."""
    device = device_for((exercise,), device)
    with one_thread():
        if device != "cpu":  # its first loop takes seconds, which are not a student's
            from autograder.isolation.worker import run_first_loop

            run_first_loop(device)
        trials = trials_or_fault(exercise, seed, device)
        if isinstance(trials, Fault):
            return exercise.unmarked(trials)
        return judge_observations(exercise, trials, observe_function(exercise, function, trials))
