"""Mark a file: read it, have it observed in another process, judge here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import autograder.exercises  # noqa: F401 - registers them
from autograder.child import Observed, observe_in_child
from autograder.devices import pick_device
from autograder.exercise import Exercise, Failure, Verdict, exercises_of, judge_observations
from autograder.running import Limits
from autograder.submissions import Submission, SubmissionError, read_submission


@dataclass(frozen=True)
class FileMarks:
    """The marks of one file.

    Attributes:
        file: its path, as it was given.
        unit: which unit it answers.
        device: what it was marked on.
        verdicts: one for each exercise of the unit, in order.
    """

    file: str
    unit: str
    device: str
    verdicts: tuple[Verdict, ...]

    @property
    def score(self) -> float:
        return float(sum(verdict.score for verdict in self.verdicts))

    @property
    def max_score(self) -> float:
        return float(sum(verdict.max_score for verdict in self.verdicts))

    def as_json(self) -> dict[str, Any]:
        """As ``gradaccum check --json`` prints it."""
        total = {"score": self.score, "max_score": self.max_score}
        exercises = [_verdict_as_json(verdict) for verdict in self.verdicts]
        return {"file": self.file, "unit": self.unit, "device": self.device} | total | {"exercises": exercises}


def mark_file(path: str | Path, *, seed: int = 0, device: str = "cpu", limits: Limits | None = None) -> FileMarks:
    """Mark a notebook or a Python file.

    Args:
        path: of the file.
        seed: chooses the problems the functions are run on; the same seed gives the same marks.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        limits: of time and memory.

    Raises:
        SubmissionError: the file cannot be marked.
        ValueError: the device is not there.
        ChildError: no process can be started here.
    """
    return mark_submission(read_submission(path), seed=seed, device=device, limits=limits)


def mark_submission(submission: Submission, *, seed: int = 0, device: str = "cpu", limits: Limits | None = None) -> FileMarks:
    """Mark what was read, see :func:`mark_file`."""
    exercises, device = exercises_to_mark(submission), pick_device(device)
    observed = observe_in_child(submission, exercises, seed, device, limits or Limits())
    verdicts = tuple(judged(exercise, seed, device, observed[exercise.id]) for exercise in exercises)
    return FileMarks(str(submission.path), submission.unit, device, verdicts)


def exercises_to_mark(submission: Submission) -> list[Exercise]:
    """The exercises of a submission's unit.

    Raises:
        SubmissionError: it has none.
    """
    exercises = exercises_of(submission.unit)
    if not exercises:
        raise SubmissionError(submission.path, f"unit {submission.unit} has no exercises to mark")
    return exercises


def judged(exercise: Exercise, seed: int, device: str, observed: Observed) -> Verdict:
    """The verdict on what arrived, whatever it is."""
    if isinstance(observed, Failure):
        return exercise.failed(observed)
    try:
        return judge_observations(exercise, seed, device, observed)
    except Exception:  # what arrives may be forged in any way, and must not stop the marking of other exercises
        return exercise.failed(Failure("died", "What your code brought back makes no sense."))


def _verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    mistakes = [{"slug": mistake.slug, "message": mistake.message} for mistake in verdict.mistakes]
    marks = {"score": verdict.score, "max_score": verdict.max_score, "passed": verdict.passed}
    return {"id": verdict.exercise} | marks | {"mistakes": mistakes}
