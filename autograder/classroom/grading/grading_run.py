"""One run of ``gradaccum classroom grade``: marks new and changed submissions, and puts their marks into the gradebook.

The result of each step is on disk before the next step begins: first the marks of a submission
(:mod:`autograder.classroom.grading.marks_store`), then its entry in the gradebook, then a note that the entry exists. However
a run ends, the next one continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.classroom.gradebook.recorder import GradebookError
from autograder.classroom.grading.class_to_mark import ClassToMark, GradingError, HandedIn
from autograder.classroom.grading.jobs import Broken, Done, Job
from autograder.classroom.grading.marks_store import StudentMarks
from autograder.publishing.nbgrader_course import units_of_class
from autograder.support.error_log import FILE_NAME, log_error

MAX_NAMED = 3
"""Submissions that a complaint names; if there are more, it only counts them."""


@dataclass
class Outcome:
    """What a run did with the submissions of a class.

    Attributes:
        marked: marked in this run.
        unchanged: marked before, and nothing has changed since.
        unmarked: reasons by (student, unit), where the marker failed; the next run tries again.
        recorded: how many were put into the gradebook in this run.
        complaints: what could not be done, a line each.
    """

    marked: list[StudentMarks] = field(default_factory=list)
    unchanged: list[StudentMarks] = field(default_factory=list)
    unmarked: dict[tuple[str, str], str] = field(default_factory=dict)
    recorded: int = 0
    complaints: list[str] = field(default_factory=list)


class GradingRun:
    """Finds out which submissions are to be marked and recorded, and does so step by step.

    Args:
        marked_class: the class.
        handed_in: the submissions to consider.
        again: also mark submissions that have not changed since they were marked.

    Raises:
        GradingError: the gradebook cannot be read.
    """

    def __init__(self, marked_class: ClassToMark, handed_in: Sequence[HandedIn], again: bool = False):
        self._class = marked_class
        self.outcome = Outcome()
        self._unrecorded: list[StudentMarks] = []
        self._database_trouble = ""
        self._troubles: dict[tuple[str, str], str] = {}
        self._templates: dict[str, dict[str, Any] | None] = {}
        self._to_mark: list[HandedIn] = []
        recorded = {unit: self._recorded_students(unit) for unit in sorted({one.unit for one in handed_in})}
        for unit, students in recorded.items():
            if students is None:
                waiting = sum(one.unit == unit for one in handed_in)
                there = "1 submission is there" if waiting == 1 else f"{waiting} submissions are there"
                release = _how_to_release(marked_class, unit)
                self.outcome.complaints.append(
                    f"{unit} has not been released in this class, but {there}; {release}, then start grade again"
                )
        for one in handed_in:
            students = recorded[one.unit]
            if students is None:
                continue
            job = self._job(one)
            if job is None:
                continue
            marks = None if again else marked_class.marks_for(job)
            if marks is None:
                self._to_mark.append(one)
                continue
            self.outcome.unchanged.append(marks)
            if one.student not in students or not marked_class.is_recorded(marks):
                self._unrecorded.append(marks)

    @property
    def number(self) -> int:
        """How many submissions are to be marked."""
        return len(self._to_mark)

    def jobs(self) -> Iterator[Job]:
        """The jobs for the workers; each file is read only when its job is asked for."""
        return (job for one in self._to_mark if (job := self._job(one)) is not None)

    def done(self, job: Job, result: Done | Broken) -> None:
        """Keep what a worker found, and try to put it into the gradebook. Nothing of an unmarked submission goes in there.

        Raises:
            OSError: the marks cannot be written.
        """
        if isinstance(result, Broken):
            self._leave_unmarked(job, result.reason, result.traceback)
            return
        marks = StudentMarks.from_json(result.marks)
        self._class.store.write(marks, result.notebook)
        if marks.unmarked:
            self._leave_unmarked(job, f"the marker failed on {marks.unmarked}", result.tracebacks)
            return
        self.outcome.marked.append(marks)
        if not self._recorded(marks):
            self._unrecorded.append(marks)

    def record_the_rest(self) -> None:
        """Put marks into the gradebook that are not there yet, from this run or earlier ones. A failure is a complaint.

        Raises:
            OSError: notes cannot be written.
        """
        self._database_trouble = ""
        rest = [marks for marks in self._unrecorded if not self._recorded(marks)]
        reasons = [self._troubles[marks.student, marks.unit] for marks in rest]
        for reason in dict.fromkeys(reasons):
            students = [marks.student for marks, why in zip(rest, reasons, strict=True) if why == reason]
            few = len(students) <= MAX_NAMED
            which = f"the submissions of {', '.join(students)}" if few else f"{len(students)} submissions"
            self.outcome.complaints.append(
                f"the marks of {which} are kept, but could not be put into the gradebook ({reason});"
                f" see to it and start grade again"
            )

    def _leave_unmarked(self, job: Job, reason: str, traceback: str) -> None:
        self.outcome.unmarked[job.student, job.unit] = reason
        log_error(f"{job.student}, {job.unit}: {reason}\n{traceback}", self._class.directory)

    def complain_of_unmarked(self) -> None:
        """Add a complaint for each reason why submissions are unmarked; it names them all."""
        for reason in dict.fromkeys(self.outcome.unmarked.values()):
            which = "; ".join(f"{s}, {unit}" for (s, unit), why in self.outcome.unmarked.items() if why == reason)
            log = self._class.directory / FILE_NAME
            self.outcome.complaints.append(f"unmarked: {which}: {reason}; see {log}, and start grade again")

    def _job(self, handed_in: HandedIn) -> Job | None:
        """The job for a submission; None, and a complaint, if its file cannot be read."""
        if handed_in.unit not in self._templates:
            self._templates[handed_in.unit] = self._class.template(handed_in.unit)
        try:
            return self._class.job(handed_in, self._templates[handed_in.unit])
        except OSError as error:
            self.outcome.complaints.append(f"{handed_in.path}: {error.strerror}; not marked")
            return None

    def _recorded(self, marks: StudentMarks) -> bool:
        """Put marks into the gradebook, unless its database is known to fail. Returns whether they are there now."""
        if not self._database_trouble:
            try:
                self._class.record(marks)
                self.outcome.recorded += 1
                return True
            except GradebookError as error:
                self._troubles[marks.student, marks.unit] = str(error)
                self._database_trouble = str(error) if error.database else ""
                return False
        self._troubles[marks.student, marks.unit] = self._database_trouble
        return False

    def _recorded_students(self, unit: str) -> set[str] | None:
        try:
            return self._class.recorder.recorded_students(unit)
        except GradebookError as error:
            raise GradingError(f"the gradebook cannot be read: {error}") from None


def _how_to_release(marked_class: ClassToMark, unit: str) -> str:
    """The commands that release a unit; one that the class does not have is added first, if it is to have it at all."""
    place = f"{marked_class.directory} --units {unit[:2]}"
    release = f"gradaccum classroom release {place}"
    if unit in units_of_class(marked_class.directory):
        return f"use {release}"
    return f"the class does not have this unit: if it should, use gradaccum classroom init {place}, {release}"
