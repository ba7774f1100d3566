"""``gradaccum classroom grade``: mark what was handed in and is not marked yet, and put it into the gradebook.

What is done is on disk before the next thing begins: first the marks of a submission
(:mod:`autograder.classroom.grading.marks_store`), then its entry in the gradebook, then a note that it is there. Whenever
marking ends, and however, starting it again goes on where it was.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograder.classroom.gradebook.recording import GradebookError
from autograder.classroom.grading.class_to_mark import ClassToMark, GradingError, HandedIn
from autograder.classroom.grading.marks_store import StudentMarks
from autograder.classroom.grading.workers import Done, Job

FEW = 3
"""Submissions that a complaint names one by one."""


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


class Grading:
    """One run of ``grade``: what there is to mark and to record, done step by step.

    Args:
        marked_class: the class.
        handed_in: what to mark.
        again: mark also what has been marked and has not changed.

    Raises:
        GradingError: the gradebook cannot be read.
    """

    def __init__(self, marked_class: ClassToMark, handed_in: Sequence[HandedIn], again: bool = False):
        self._class, self._again = marked_class, again
        self.outcome = Outcome()
        self._unrecorded: list[StudentMarks] = []
        self._database_trouble = ""
        self._troubles: dict[tuple[str, str], str] = {}
        self._templates: dict[str, dict] = {}
        self._todo: list[HandedIn] = []
        known = {unit: self._known(unit) for unit in sorted({one.unit for one in handed_in})}
        for unit in known:
            if known[unit] is None:
                waiting = sum(one.unit == unit for one in handed_in)
                self.outcome.complaints.append(
                    f"{unit} has not been released in this class, but {waiting} submissions are there;"
                    f" use gradaccum classroom release {marked_class.directory} --units {unit[:2]}, then start grade again"
                )
        for one in handed_in:
            if known[one.unit] is None:
                continue
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
        if not self._recorded(marks):
            self._unrecorded.append(marks)

    def record_the_rest(self) -> None:
        """Put into the gradebook what marking, now or before, has left out. What does not work is a complaint.

        Raises:
            GradingError: notes cannot be written.
        """
        self._database_trouble = ""
        rest = [marks for marks in self._unrecorded if not self._recorded(marks)]
        reasons = [self._troubles[marks.student, marks.unit] for marks in rest]
        for reason in dict.fromkeys(reasons):
            students = [marks.student for marks, why in zip(rest, reasons, strict=True) if why == reason]
            number = f"{len(students)} submissions" if len(students) > FEW else f"the submissions of {', '.join(students)}"
            self.outcome.complaints.append(
                f"the marks of {number} are kept, but could not be put into the gradebook ({reason});"
                f" see to it and start grade again"
            )

    def _recorded(self, marks: StudentMarks) -> bool:
        """Put marks into the gradebook, unless its database is known to refuse; whether they are there now."""
        if not self._database_trouble:
            try:
                with _writing():
                    self._class.record(marks)
                self.outcome.recorded += 1
                return True
            except GradebookError as error:
                self._troubles[marks.student, marks.unit] = str(error)
                self._database_trouble = str(error) if error.database else ""
                return False
        self._troubles[marks.student, marks.unit] = self._database_trouble
        return False

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
