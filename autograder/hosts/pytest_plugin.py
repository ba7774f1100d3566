"""``pytest --grade FILE [--grade FILE…] [--device D] [--seed N] [--sandbox]``: every exercise of a submission is a test.

A file is marked as ``gradaccum check`` does it, in a process of its own, when its first exercise is wanted; no code of it runs
in pytest's process. Without ``--grade`` it does nothing, costs nothing, and leaves the names of its other options to others.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.contract.devices import DEVICES, pick_device
from autograder.isolation.sandbox import BWRAP, NONE, ChildError
from autograder.reading.submissions import Submission, SubmissionError, read_submission
from autograder.support.one_line import one_line
from autograder.support.seeds import MAX_SEED

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr, TracebackStyle

    from autograder.contract.verdict import Verdict
    from autograder.marking.marker import Marker

NAME = "gradaccum-graded-files"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the one option name that is the course's own; see :func:`pytest_load_initial_conftests` for others."""
    parser.getgroup("gradaccum", "marking (gradaccum)").addoption(
        "--grade",
        action="append",
        metavar="FILE",
        help="mark a notebook or Python file of the gradient-accumulation course, every exercise as a test, with "
        f"--device {'|'.join(DEVICES)}, --seed N and --sandbox",
    )


@pytest.hookimpl(trylast=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> None:
    """Take the other options only where files are marked, and only if no other plug-in has taken them."""
    if not early_config.known_args_namespace.grade:
        return
    group = parser.getgroup("gradaccum")
    with contextlib.suppress(ValueError):
        group.addoption("--device", default="auto", metavar="D", help="where to mark")
    with contextlib.suppress(ValueError):
        group.addoption("--seed", default=0, metavar="N", help="chooses the hidden problems")
    with contextlib.suppress(ValueError):
        group.addoption("--sandbox", action="store_true", help="run other people's code in a sandbox, as for a class")


def pytest_configure(config: pytest.Config) -> None:
    """Read the files to mark, or report in a line each what is wrong with them."""
    files = config.getoption("grade")
    if not files:
        return
    try:
        seed = int(config.getoption("seed") or 0)
        if not 0 <= seed <= MAX_SEED:
            raise ValueError
    except ValueError:
        raise pytest.UsageError(f"--seed: {config.getoption('seed')!r} is not a number from 0 to {MAX_SEED}") from None
    complaints, submissions = [], []
    sandbox = BWRAP if config.getoption("sandbox", False) is True else NONE
    with _installed_modules_only():
        for file in files:
            try:
                submissions.append(_read(file, follow=sandbox == NONE))
            except SubmissionError as error:
                complaints.append(str(error))
        try:
            marker = _marker(sandbox, config.getoption("device") or "auto")
        except (ValueError, ChildError) as error:
            complaints.append(str(error))
    if complaints:
        raise pytest.UsageError(*complaints)
    config.pluginmanager.register(GradedFiles(submissions, marker, seed), NAME)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []  # graded files only, not the tests that happen to be here


class GradedFiles:
    """Adds the exercises of the files to mark to what pytest collects."""

    def __init__(self, submissions: list[Submission], marker: Marker, seed: int):
        self.submissions, self.marker, self.seed = submissions, marker, seed
        self.unmarked = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        for submission in self.submissions:
            path = submission.path
            file = GradedFile.from_parent(
                session, path=path.absolute(), nodeid=one_line(path.as_posix()), submission=submission, marking=self
            )
            exercises = list(file.collect())
            report = pytest.CollectReport(file.nodeid, "passed", None, [*exercises])
            session.ihook.pytest_collectreport(report=report)
            items.extend(exercises)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        if not _is_unmarked(report):
            return None
        return "unmarked", "U", ("UNMARKED", {"yellow": True})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.unmarked += _is_unmarked(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unmarked:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        marks: dict[str, list[tuple[float, float]]] = {}
        for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
            found = dict(report.user_properties) if report.when == "call" else {}
            if "score" in found:
                marks.setdefault(report.nodeid.rpartition("::")[0], []).append((found["score"], found["max_score"]))
        for file, scores in marks.items():
            points, due = (sum(column) for column in zip(*scores, strict=True))
            terminalreporter.line(f"{file}: {points:g} of {due:g} points, marked on {self.marker.device}")
        for report in terminalreporter.getreports("unmarked"):
            terminalreporter.line(f"{report.nodeid} is unmarked: the marker failed on it, not the student", yellow=True)
            terminalreporter.line(report.longreprtext)


def _is_unmarked(report: pytest.TestReport) -> bool:
    return report.when == "call" and ("unmarked", True) in report.user_properties


class GradedFile(pytest.File):
    """A submission. It is marked as a whole when its first exercise is wanted."""

    def __init__(self, *, submission: Submission, marking: GradedFiles, **others: Any):
        super().__init__(**others)
        self.submission, self.marking = submission, marking

    def collect(self) -> Iterator[GradedExercise]:
        from autograder.exercises import exercises_of

        for exercise in exercises_of(self.submission.unit):
            yield GradedExercise.from_parent(self, name=exercise.id)

    @functools.cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each exercise, by id."""
        marks = self.marking.marker.mark(self.submission, seed=self.marking.seed)
        return {verdict.exercise: verdict for verdict in marks.verdicts}


class GradedExercise(pytest.Item):
    """An exercise of a submission. It passes with all of its points, and otherwise fails with the verdict."""

    def runtest(self) -> None:
        assert isinstance(self.parent, GradedFile)
        verdict = self.parent.verdicts[self.name]
        if verdict.fault:
            self.user_properties.append(("unmarked", True))
            raise UnmarkedError(f"{verdict}\n\n{verdict.fault.traceback}")
        self.user_properties += [("score", verdict.score), ("max_score", verdict.max_score)]
        if not verdict.passed:
            raise NotPassedError(str(verdict))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, NotPassedError | UnmarkedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}::{self.name}"


class NotPassedError(Exception):
    """An exercise did not get all of its points; the message is the verdict."""


class UnmarkedError(Exception):
    """The marker failed on an exercise; the message says so, with the traceback."""


_PATH = tuple(sys.path)
"""Where modules were looked for before pytest put folders with tests, and those of ``conftest.py`` files, in front."""


@contextlib.contextmanager
def _installed_modules_only() -> Iterator[None]:
    """Import only what is installed, torch and this course above all, and nothing that happens to be near.

    The folder that pytest is run in, or one with a ``conftest.py``, may hold a file called torch.py or a folder called
    gradaccum, such as a clone of this course. What has been imported here is not looked for again.
    """
    here, path, packages = os.getcwd(), sys.path[:], str(Path(__file__).resolve().parents[2])
    sys.path[:] = [*(entry for entry in _PATH if os.path.abspath(entry) != here), packages]
    try:
        yield
    finally:
        sys.path[:] = path


def _read(file: str, follow: bool) -> Submission:
    """Read a submission, and import the exercises of its unit.

    Raises:
        SubmissionError: it cannot be marked.
    """
    submission = read_submission(file, follow=follow)
    from autograder.marking.marker import exercises_to_mark

    exercises_to_mark(submission)
    return submission


def _marker(sandbox: str, device: str) -> Marker:
    """What marks the files; its fork server starts now, and runs until this process ends.

    Raises:
        ChildError: there can be no process, or no sandbox.
        ValueError: the device is not there.
    """
    from autograder.marking.marker import shared_marker

    return shared_marker(sandbox, pick_device(device))
