"""Mark a submission: have it observed in another process, judge here."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401 - takes a second, which the first step of an optimizer would take when all else is ready

from autograder.contract.devices import pick_device
from autograder.contract.exercise import Exercise
from autograder.contract.observation import Failure
from autograder.contract.verdict import Fault, Verdict
from autograder.exercises import exercises_of
from autograder.isolation.cell_reports import CellReport
from autograder.isolation.fork_server_client import ForkServer, shared_fork_server
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import NONE, ChildError
from autograder.isolation.supervisor import Observations, Observed, observe_in_fork
from autograder.marking.faults import fault_of, logged
from autograder.marking.in_process import device_for, judge_observations, trials_or_fault
from autograder.reading.submissions import Submission, SubmissionError, read_submission
from gradaccum.threads import one_thread


@dataclass(frozen=True)
class Marks:
    """The marks of one submission.

    Attributes:
        file: its path, as it was given.
        unit: which unit it answers.
        device: what it was marked on.
        verdicts: one for each exercise of the unit, in order.
        reports: how running each cell went, of cells that printed something or went wrong.
    """

    file: str
    unit: str
    device: str
    verdicts: tuple[Verdict, ...]
    reports: tuple[CellReport, ...] = ()

    @property
    def score(self) -> float | None:
        """The points of all exercises; None if one of them is unmarked."""
        scores = [verdict.score for verdict in self.verdicts if verdict.score is not None]
        return float(sum(scores)) if len(scores) == len(self.verdicts) else None

    @property
    def max_score(self) -> float:
        return float(sum(verdict.max_score for verdict in self.verdicts))

    @property
    def faults(self) -> dict[str, Fault]:
        """Why exercises are unmarked, by exercise id; empty if all are marked."""
        return {verdict.exercise: verdict.fault for verdict in self.verdicts if verdict.fault}

    def with_faults_logged(self) -> Marks:
        """The same; faults are in the log of this user, and name it."""
        return replace(self, verdicts=tuple(map(logged, self.verdicts)))

    def as_json(self) -> dict[str, Any]:
        """As ``gradaccum check --json`` prints it."""
        total = {"score": self.score, "max_score": self.max_score}
        exercises = [_verdict_as_json(verdict) for verdict in self.verdicts]
        return {"file": self.file, "unit": self.unit, "device": self.device} | total | {"exercises": exercises}


class Marker:
    """Marks submissions one after the other, and keeps the fork server running that they are forked from. A context manager.

    Args:
        sandbox: ``"bwrap"`` to run submissions in a sandbox, ``"none"`` to trust them.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        fork_server: the one to use, if there is one already.

    Raises:
        SandboxError: there is no sandbox here.
        ValueError: the sandbox or the device is unknown or not there.
    """

    def __init__(self, sandbox: str = NONE, device: str = "cpu", fork_server: ForkServer | None = None):
        self.device = pick_device(device)
        self._fork_server = fork_server or ForkServer(sandbox, self.device)
        self._on_cpu = self._fork_server if self.device == "cpu" else ForkServer(sandbox, "cpu")  # started when needed

    def __enter__(self) -> Marker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the fork server. Marking again starts another one."""
        self._fork_server.close()
        self._on_cpu.close()

    def mark(self, submission: Submission, *, seed: int = 0, limits: Limits | None = None) -> Marks:
        """Mark a submission. The same submission and seed give the same marks. What cannot be marked by our fault is unmarked.

        Raises:
            SubmissionError: its unit has no exercises.
            ChildError: no process can be started here.
        """
        exercises = exercises_to_mark(submission)
        try:
            return self._marks(submission, exercises, seed, limits)
        except ChildError:
            raise
        except Exception as error:
            verdicts = tuple(exercise.unmarked(fault_of(error)) for exercise in exercises)
            return Marks(str(submission.path), submission.unit, self.device, verdicts)

    def _marks(self, submission: Submission, exercises: Sequence[Exercise], seed: int, limits: Limits | None) -> Marks:
        folder = submission.path.absolute().parent
        limits, device = limits or Limits(), device_for(exercises, self.device)
        fork_server = self._on_cpu if device == "cpu" else self._fork_server
        with one_thread():
            made = {exercise.id: trials_or_fault(exercise, seed, device) for exercise in exercises}
        trials = {name: those for name, those in made.items() if not isinstance(those, Fault)}
        found = Observations()
        if trials:
            found = observe_in_fork(fork_server, submission.cells, submission.unit, trials, device, limits, folder)
        with one_thread():
            verdicts = tuple(
                _on_what_is_there(one, verdict_on(one, made[one.id], found.observed.get(one.id)), submission)
                for one in exercises
            )
        return Marks(str(submission.path), submission.unit, device, verdicts, tuple(found.reports))


def mark_file(
    path: str | Path, *, seed: int = 0, device: str = "cpu", limits: Limits | None = None, sandbox: str = NONE
) -> Marks:
    """Mark a notebook or a Python file.

    Args:
        path: of the file. In a sandbox, which is for files of others, it must not be a link.
        seed: chooses the problems the functions are run on; the same seed gives the same marks.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        limits: of time, memory, processes and files.
        sandbox: see :class:`Marker`.

    Raises:
        SubmissionError: the file cannot be marked.
        ValueError: the device is not there.
        ChildError: no process can be started here.
    """
    return mark_submission(
        read_submission(path, follow=sandbox == NONE), seed=seed, device=device, limits=limits, sandbox=sandbox
    )


def mark_submission(
    submission: Submission, *, seed: int = 0, device: str = "cpu", limits: Limits | None = None, sandbox: str = NONE
) -> Marks:
    """Mark what was read, see :func:`mark_file`."""
    exercises_to_mark(submission)
    return shared_marker(sandbox, pick_device(device)).mark(submission, seed=seed, limits=limits)


@functools.cache
def shared_marker(sandbox: str, device: str) -> Marker:
    """The marker that this process uses for a sandbox and a device. Its fork server runs until this process ends."""
    return Marker(sandbox, device, shared_fork_server(sandbox, pick_device(device)))


def exercises_to_mark(submission: Submission) -> tuple[Exercise, ...]:
    """The exercises of a submission's unit.

    Raises:
        SubmissionError: it has none.
    """
    exercises = exercises_of(submission.unit)
    if not exercises:
        raise SubmissionError(submission.path, f"unit {submission.unit} has no exercises to mark")
    return exercises


def verdict_on(exercise: Exercise, trials: Mapping[str, Any] | Fault, observed: Observed | None) -> Verdict:
    """The verdict on what was observed; if the marker failed, what takes its place."""
    if isinstance(trials, Fault):
        return exercise.unmarked(trials)
    assert observed is not None, "every exercise that has trials is observed"
    return exercise.failed(observed) if isinstance(observed, Failure) else judge_observations(exercise, trials, observed)


def _on_what_is_there(exercise: Exercise, verdict: Verdict, submission: Submission) -> Verdict:
    """The verdict, or another one if the file has no cell for a function that is not there."""
    if exercise.id not in submission.absent or not verdict.failure or verdict.failure.kind != "missing":
        return verdict
    file = "what could be read of your file" if submission.damage else "your file"
    return exercise.failed(Failure("absent", f"There is no cell for {exercise.id} in {file}."))


def _verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    marks = {"score": verdict.score, "max_score": verdict.max_score}
    if verdict.fault:
        return {"id": verdict.exercise} | marks | {"passed": None, "mistakes": [], "reason": str(verdict.fault)}
    mistakes = [{"slug": mistake.slug, "message": mistake.message} for mistake in verdict.mistakes]
    return {"id": verdict.exercise} | marks | {"passed": verdict.passed, "mistakes": mistakes}
