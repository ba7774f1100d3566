"""What an exercise is, and how one is marked.

An exercise has *trials* (what the student's function is run on), ``observe`` (run it on one trial and bring back plain data)
and ``judge`` (compare what was observed with a reference, name the mistakes, award points). ``observe`` runs where the
student's code runs; ``judge`` believes nothing but numbers, so it may run somewhere else.
"""

from __future__ import annotations

import random
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from autograder.devices import full_precision
from autograder.mistakes import Mistake
from gradaccum.fingerprint import Fingerprint
from gradaccum.threads import one_thread

SECONDS = 10.0
"""Limit for one trial, as :func:`autograder.student_code.stopwatch` counts. Right solutions need milliseconds; slow but legal
code has ample time."""


MOST_ROWS = 50
"""Rows of a fingerprint that a verdict shows. Right loops have a dozen; one with thousands would be megabytes of picture."""


@dataclass(frozen=True)
class Failure:
    """Why a trial has no result.

    Attributes:
        kind: ``"missing"`` (no such function), ``"unwritten"`` (the stub), ``"raised"``, ``"time"`` or ``"died"``.
        message: one line for the student.
    """

    kind: str
    message: str


@dataclass(frozen=True)
class Observation:
    """What one trial brought back: tensors and JSON, nothing else."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    failure: Failure | None = None


@dataclass(frozen=True)
class Part:
    """Something an exercise gives points for. ``title`` completes the sentence "points for …"."""

    name: str
    title: str
    points: float


@dataclass(frozen=True)
class PartResult:
    """A part, the share of its points that was earned (0 or 1), and what was missing."""

    part: Part
    passed: bool
    message: str = ""

    @property
    def points(self) -> float:
        return self.part.points if self.passed else 0.0


@dataclass(frozen=True)
class Verdict:
    """The marks of one exercise and the reason for them.

    Attributes:
        exercise, unit: ids.
        results: one for each part.
        mistakes: named mistakes, the simplest explanation first.
        failure: why the function brought back nothing, if it did.
        expected, found: fingerprints to show, if there are any.
        remark: a sentence for what no catalogued mistake explains.
    """

    exercise: str
    unit: str
    results: tuple[PartResult, ...]
    mistakes: tuple[Mistake, ...] = ()
    failure: Failure | None = None
    expected: Fingerprint | None = None
    found: Fingerprint | None = None
    remark: str = ""

    @property
    def score(self) -> float:
        return float(sum(result.points for result in self.results))

    @property
    def max_score(self) -> float:
        return float(sum(result.part.points for result in self.results))

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    @property
    def failure_everywhere(self) -> bool:
        """Whether there is nothing to say about single parts."""
        return self.failure is not None and all(result.message == self.failure.message for result in self.results)

    def __str__(self) -> str:
        from autograder.verdict_view import as_text

        return as_text(self)

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        from autograder.verdict_view import mimebundle

        return mimebundle(self)


class Exercise(ABC):
    """One function that a student writes and the autograder marks.

    Class attributes:
        id: name of the function.
        unit: the unit it belongs to, such as ``"04_training_loop"``.
        parts: what it gives points for.
        graded: whether the points count in a class; those of a practice exercise do not.
        cpu_only: whether it computes on the CPU whatever device is marked on, in processes that are forked.
    """

    id: str
    unit: str
    parts: tuple[Part, ...]
    graded: bool = True
    cpu_only: bool = False

    @abstractmethod
    def trials(self, seed: int, device: str) -> Mapping[str, Any]:
        """What the function is run on, by name: plain data, the same for the same seed."""

    @abstractmethod
    def observe(self, function: Callable, trial: Any) -> Observation:
        """Run the student's function on one trial. Whatever it raises is reported by the caller."""

    @abstractmethod
    def judge(self, trials: Mapping[str, Any], observations: Mapping[str, Observation]) -> Verdict:
        """Marks for what was observed on every trial."""

    @property
    def max_score(self) -> float:
        return float(sum(part.points for part in self.parts))

    def verdict(self, results: Mapping[str, str], **details) -> Verdict:
        """A verdict from messages by part name; an empty message means passed. Every part needs one."""
        if found := details.get("found"):
            details["found"] = found.beginning(MOST_ROWS)
        return Verdict(
            self.id,
            self.unit,
            tuple(PartResult(p, not results[p.name], results[p.name]) for p in self.parts),
            **details,
        )

    def failed(self, failure: Failure) -> Verdict:
        """The verdict of a function that brought back nothing at all."""
        return self.verdict({part.name: failure.message for part in self.parts}, failure=failure)


EXERCISES: dict[str, Exercise] = {}
"""All exercises by id, in the order of the course."""


def register(exercise_class: type[Exercise]) -> type[Exercise]:
    """Class decorator: make an exercise known."""
    exercise = exercise_class()
    if exercise.id in EXERCISES:
        raise ValueError(f"two exercises are called {exercise.id!r}")
    EXERCISES[exercise.id] = exercise
    return exercise_class


def exercises_of(unit: str) -> list[Exercise]:
    """The exercises of a unit, in order; none for an unknown unit."""
    return [exercise for exercise in EXERCISES.values() if exercise.unit == unit]


def observe_trials(
    exercise: Exercise,
    function: Callable,
    seed: int,
    device: str,
    seconds: float = SECONDS,
    before: Callable[[str], None] = lambda trial: None,
) -> dict[str, Observation]:
    """Run a student's function on all trials of an exercise, each in at most ``seconds``, and announce each to ``before``.

    A trial that raises, or exceeds its time, is observed as a :class:`Failure`. After one that exceeded its time the rest
    is not run, since it would take as long, nor after a first one that says the function is not written; what was observed
    before keeps its points.
    """
    from autograder.student_code import guarded

    observations: dict[str, Observation] = {}
    trials = exercise.trials(seed, device)
    for name, trial in trials.items():
        before(name)
        with full_precision():
            observation = guarded(lambda trial=trial: exercise.observe(function, trial), seed, seconds)
        unwritten = not observations and observation.failure and observation.failure.kind == "unwritten"
        observations[name] = observation
        if unwritten or (observation.failure and observation.failure.kind == "time"):
            return dict.fromkeys(trials, observation) | observations
    return observations


def judge_observations(exercise: Exercise, seed: int, device: str, observations: Mapping[str, Observation]) -> Verdict:
    """The verdict for what :func:`observe_trials` brought back."""
    trials = exercise.trials(seed, device)
    missing = [name for name in trials if name not in observations]
    if missing:
        return exercise.failed(Failure("died", "Your code ended the process that ran it."))
    failures = [o.failure for o in observations.values()]
    if all(failure and failure.kind != "raised" for failure in failures):
        return exercise.failed(failures[0])
    with full_precision(), warnings.catch_warnings():
        # Of wrong loops run for comparison; nbgrader takes a line on stderr for an error.
        warnings.simplefilter("ignore")
        return exercise.judge(trials, observations)


def mark_function(exercise: Exercise, function: Callable, seed: int = 0, device: str = "cpu") -> Verdict:
    """Observe and judge in this process, as ``check`` does at a student's desk."""
    from autograder.transport import plain

    with one_thread():
        observations = observe_trials(exercise, function, seed, device)
        brought = {name: plain(observation) for name, observation in observations.items()}
        return judge_observations(exercise, seed, device, brought)


def trial_random(exercise_id: str, seed: int) -> random.Random:
    """The random choices of an exercise's trials; the same in every process."""
    return random.Random(f"{exercise_id}/{seed}")
