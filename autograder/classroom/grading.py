"""``gradaccum classroom grade``: mark what was handed in and is not marked yet, and put it into the gradebook.

What is done is on disk before the next thing begins: first the marks of a submission (:mod:`autograder.classroom.marks_store`),
then its entry in the gradebook, then a note that it is there. Whenever marking ends, and however, starting it again goes on
where it was.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.course import CONFIG, course_directory, write_atomically
from autograder.classroom.gradebook import GradebookError, Recorder, with_patience
from autograder.classroom.marks_store import FORMAT, DamagedMarksError, MarksStore, StudentMarks
from autograder.classroom.workers import Done, Job
from autograder.nbgrader_plugins import MarkSubmission, template_of
from autograder.units import UNITS

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


class GradingError(Exception):
    """Marking a class cannot begin or go on. One line: what is wrong, what to do. What was marked before is kept."""


@dataclass(frozen=True)
class HandedIn:
    """One student's notebook for one unit."""

    student: str
    unit: str
    path: Path


@dataclass
class Outcome:
    """What became of the submissions of a class.

    Attributes:
        marked: marked now.
        unchanged: marked before, and nothing has changed since.
        recorded: put into the gradebook now.
        complaints: what could not be done, a line each.
    """

    marked: list[StudentMarks] = field(default_factory=list)
    unchanged: list[StudentMarks] = field(default_factory=list)
    recorded: int = 0
    complaints: list[str] = field(default_factory=list)


class ClassToMark:
    """A class with its submissions, marks and gradebook.

    Args:
        directory: of the class.
        db_url: of the gradebook, if not the one of the class's configuration.
        device, sandbox: if not those of the class's configuration, see :class:`autograder.nbgrader_plugins.MarkSubmission`.

    Raises:
        GradingError: the directory is no class.
    """

    def __init__(self, directory: Path, db_url: str = "", device: str = "", sandbox: str = ""):
        self.directory = directory
        self.coursedir = _course_directory(directory)
        self.coursedir.db_url = with_patience(db_url or self.coursedir.db_url)
        configured = MarkSubmission(config=self.coursedir.config)
        self.seed, self.device = configured.seed, device or configured.device
        self.sandbox = sandbox or configured.sandbox
        self.store = MarksStore(directory)

    @cached_property
    def recorder(self) -> Recorder:
        return Recorder(self.coursedir)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else marks this class meanwhile. The lock goes with the process that holds it.

        Raises:
            GradingError: somebody does, or the directory cannot be written to.
        """
        try:
            lock = os.open(self.directory / ".grading.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise GradingError(f"{error.filename}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise GradingError(f"{self.directory} is being graded by another process; wait for it, or stop it") from None
        try:
            yield
        finally:
            os.close(lock)

    def handed_in(self, units: Sequence[str] = (), students: Sequence[str] = ()) -> tuple[list[HandedIn], list[str]]:
        """What is in ``submitted/``, by unit and student, and a line for each folder without its notebook.

        Args:
            units: only these; all units of the course if empty. Other assignments of the class are nbgrader's business.
            students: only these; all if empty.
        """
        folder = Path(self.coursedir.format_path(self.coursedir.submitted_directory, ".", ".")).resolve()
        found, complaints = [], []
        for place in sorted(folder.glob("*/*"), key=lambda place: (place.name, place.parent.name)):
            student, unit = place.parent.name, place.name
            if unit not in (units or UNITS) or (students and student not in students) or not place.is_dir():
                continue
            notebook = place / f"{unit}.ipynb"
            if notebook.is_file():
                found.append(HandedIn(student, unit, notebook))
            else:
                there = ", ".join(sorted(path.name for path in place.iterdir())[:3]) or "nothing"
                complaints.append(f"{place}: holds {there}, but no {unit}.ipynb; rename the notebook")
        return found, complaints

    def job(self, handed_in: HandedIn, template: dict) -> Job:
        """What a worker needs to mark a submission.

        Raises:
            OSError: the file cannot be read.
        """
        data = handed_in.path.read_bytes()
        decides = [version("gradaccum"), FORMAT, handed_in.unit, self.seed, self.device, template, sha256(data).hexdigest()]
        key = sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        return Job(handed_in.student, handed_in.unit, key, data, template, self.seed, self.sandbox, self.device)

    def template(self, unit: str) -> dict:
        """The notebook of a unit that was released in the class."""
        return template_of(self.coursedir, {"nbgrader": {"assignment": unit, "notebook": unit}})

    def marks_for(self, job: Job) -> StudentMarks | None:
        """The marks of exactly this submission, if it has been marked."""
        try:
            marks = self.store.read(job.student, job.unit)
        except DamagedMarksError:
            return None
        there = self.store.notebook_path(job.student, job.unit).is_file()
        return marks if marks and marks.key == job.key and there else None

    def record(self, marks: StudentMarks) -> None:
        """Put marks into the gradebook, and note that.

        Raises:
            GradebookError: that cannot be done.
            OSError: the note cannot be written.
        """
        notebook = self.store.notebook_path(marks.student, marks.unit).read_text(encoding="utf-8")
        self.recorder.record(marks.student, marks.unit, notebook)
        write_atomically(self._note(marks), self._noted(marks))

    def is_recorded(self, marks: StudentMarks) -> bool:
        """Whether marks have been put into this gradebook. It may have been replaced since, see :meth:`Recorder.known`."""
        try:
            return self._note(marks).read_text(encoding="utf-8") == self._noted(marks)
        except (OSError, UnicodeDecodeError):
            return False

    def _note(self, marks: StudentMarks) -> Path:
        return self.store.path(marks.student, marks.unit).with_suffix(".recorded")

    def _noted(self, marks: StudentMarks) -> str:
        return sha256(f"{marks.key} {self.coursedir.db_url}".encode()).hexdigest() + "\n"


class Grading:
    """One run of ``grade``: what there is to mark and to record, done step by step.

    Args:
        marked_class: the class.
        handed_in: what to mark.
        again: mark also what has been marked and has not changed.

    Raises:
        GradingError: a unit was not released, or the gradebook cannot be read.
    """

    def __init__(self, marked_class: ClassToMark, handed_in: Sequence[HandedIn], again: bool = False):
        self._class, self._again = marked_class, again
        self.outcome = Outcome()
        self._unrecorded: list[StudentMarks] = []
        self._gradebook_trouble = ""
        self._templates: dict[str, dict] = {}
        self._todo: list[HandedIn] = []
        units = sorted({one.unit for one in handed_in})
        known = {unit: self._known(unit) for unit in units}
        if missing := [unit for unit in units if known[unit] is None]:
            raise GradingError(f"{', '.join(missing)} has not been released in this class; use gradaccum classroom release")
        for one in handed_in:
            try:
                job = marked_class.job(one, self._template(one.unit))
            except OSError as error:
                self.outcome.complaints.append(f"{one.path}: {error.strerror}; not marked")
                continue
            marks = None if again else marked_class.marks_for(job)
            if marks is None:
                self._todo.append(one)
                continue
            self.outcome.unchanged.append(marks)
            if one.student not in known[one.unit] or not marked_class.is_recorded(marks):
                self._unrecorded.append(marks)

    @property
    def number(self) -> int:
        """How many submissions are to be marked."""
        return len(self._todo)

    def jobs(self) -> Iterator[Job]:
        """What workers are to do; files are read only when it is their turn."""
        for one in self._todo:
            try:
                yield self._class.job(one, self._template(one.unit))
            except OSError as error:
                self.outcome.complaints.append(f"{one.path}: {error.strerror}; not marked")

    def done(self, job: Job, result: Done | Exception) -> None:
        """Keep what a worker found, and put it into the gradebook, if that works.

        Raises:
            GradingError: it cannot be written.
        """
        if isinstance(result, Exception):
            self.outcome.complaints.append(f"{job.student}, {job.unit}: {result}; not marked, start grade again")
            return
        marks = StudentMarks.from_json(result.marks)
        with _writing():
            self._class.store.write(marks, result.notebook)
        self.outcome.marked.append(marks)
        if self._gradebook_trouble:
            self._unrecorded.append(marks)
        else:
            self._record(marks)

    def record_the_rest(self) -> None:
        """Put into the gradebook what marking, now or before, has left out. What does not work is a complaint.

        Raises:
            GradingError: notes cannot be written.
        """
        self._gradebook_trouble, rest, self._unrecorded = "", self._unrecorded, []
        for marks in rest:
            if self._gradebook_trouble:
                self._unrecorded.append(marks)
            else:
                self._record(marks)
        if self._unrecorded:
            self.outcome.complaints.append(
                f"the marks of {len(self._unrecorded)} submissions are kept, but could not be put into the gradebook"
                f" ({self._gradebook_trouble}); see to it and start grade again"
            )

    def _record(self, marks: StudentMarks) -> None:
        try:
            with _writing():
                self._class.record(marks)
            self.outcome.recorded += 1
        except GradebookError as error:
            self._gradebook_trouble = str(error)
            self._unrecorded.append(marks)

    def _known(self, unit: str) -> set[str] | None:
        try:
            return self._class.recorder.known(unit)
        except GradebookError as error:
            raise GradingError(f"the gradebook cannot be read: {error}") from None

    def _template(self, unit: str) -> dict:
        if unit not in self._templates:
            self._templates[unit] = self._class.template(unit)
        return self._templates[unit]


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise GradingError(f"{error.filename}: {error.strerror}; see to it and start grade again, which goes on here") from None


def _course_directory(directory: Path) -> CourseDirectory:
    if not (directory / CONFIG).is_file():
        raise GradingError(f"{directory} is no class (it has no {CONFIG}); make one with gradaccum classroom init")
    try:
        return course_directory(directory)
    except Exception as error:  # it is Python, and the instructor's to change
        raise GradingError(f"{directory / CONFIG}: {type(error).__name__}: {error}") from None
