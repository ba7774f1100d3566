"""A class as marking sees it: its submissions, what their marks depend on, the marks that exist already, and the gradebook."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.classroom.course import existing_class, step_folder
from autograder.classroom.deadlines import EXAMPLE, stamped
from autograder.classroom.gradebook.database import gradebook_url
from autograder.classroom.gradebook.enrolment import enrolled
from autograder.classroom.gradebook.recorder import GradebookError, Recorder, with_sqlite_timeout
from autograder.classroom.grading.jobs import Job
from autograder.classroom.grading.marks_store import FORMAT, DamagedMarksError, MarksStore, StudentMarks
from autograder.classroom.students import TIME_FILE, Student
from autograder.contract.units import UNITS
from autograder.hosts.nbgrader_plugins import MarkSubmission
from autograder.reading.released_template import template_of
from autograder.reading.submissions import MAX_FILE_BYTES
from autograder.support.atomic_files import write_atomically
from autograder.support.edition import edition
from autograder.support.one_line import one_line
from autograder.support.os_trouble import os_trouble
from autograder.support.regular_files import LINK, irregular_path, open_regular

MAX_TIMESTAMP_BYTES = 1000
"""Bytes that are read of ``timestamp.txt``."""


class GradingError(Exception):
    """Marking a class cannot begin or go on. One line: what is wrong, what to do. Marks made before are kept."""


@dataclass(frozen=True)
class HandedIn:
    """One student's notebook for one unit."""

    student: str
    unit: str
    path: Path


class ClassToMark:
    """A class with its submissions, marks and gradebook.

    Args:
        directory: of the class.
        db_url: of the gradebook; by default that of the class's configuration.
        device, sandbox: by default those of the class's configuration, see
            :class:`autograder.hosts.nbgrader_plugins.MarkSubmission`.

    Raises:
        NoClassError: the directory is not a class.
        NoGradebookError: ``db_url`` is not the URL of a database.
    """

    def __init__(self, directory: Path, db_url: str = "", device: str = "", sandbox: str = ""):
        self.directory = directory
        self.coursedir = existing_class(directory)
        self.coursedir.db_url = with_sqlite_timeout(gradebook_url(self.coursedir, db_url))
        configured = MarkSubmission(config=self.coursedir.config)
        self.seed_for, self.device = configured.seed_for, device or configured.device
        self.sandbox = sandbox or configured.sandbox
        self.store = MarksStore(directory)

    @cached_property
    def recorder(self) -> Recorder:
        return Recorder(self.coursedir)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other process from marking this class. The lock is released when the process that holds it ends.

        Raises:
            GradingError: another process holds the lock, or the directory cannot be written to.
        """
        try:
            lock = os.open(self.directory / ".grading.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise GradingError(os_trouble(error)) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise GradingError(f"{self.directory} is being graded by another process; wait for it, or stop it") from None
        try:
            yield
        finally:
            os.close(lock)

    def handed_in(self, units: Sequence[str] = (), students: Sequence[str] = ()) -> tuple[list[HandedIn], list[str]]:
        """The submissions in ``submitted/``, by unit and student, and a line for each folder without its notebook.

        Args:
            units: only these; all units of the course if empty. Other assignments of the class are left to nbgrader.
            students: only these; all if empty.
        """
        folder = self.submitted
        links = [place for place in sorted(folder.glob("*")) if place.is_symlink()]
        found, complaints = [], [f"{place}: {LINK}; not marked" for place in links if not students or place.name in students]
        for place in sorted(folder.glob("*/*"), key=lambda place: (place.name, place.parent.name)):
            student, unit = place.parent.name, place.name
            if place.parent in links or unit not in (units or UNITS) or (students and student not in students):
                continue
            notebook = place / f"{unit}.ipynb"
            if student != one_line(student):
                complaints.append(f"{place.parent}: no student can be called that; rename the folder")
            elif problem := irregular_path(place):
                complaints.append(f"{problem}; not marked")
            elif notebook.is_file():
                found.append(HandedIn(student, unit, notebook))
            elif place.is_dir():
                there = ", ".join(sorted(path.name for path in place.iterdir())[:3]) or "nothing"
                complaints.append(f"{place}: holds {there}, but no {unit}.ipynb; rename the notebook")
        return found, complaints

    def without_submission(self, units: Sequence[str] = (), students: Sequence[str] = ()) -> list[str]:
        """A line for each unit of which marks are kept of submissions that are not there any more."""
        gone: dict[str, list[str]] = {}
        for student, unit in self.store.submissions():
            wanted = unit in (units or UNITS) and (not students or student in students)
            if wanted and not (self.submitted / student / unit / f"{unit}.ipynb").exists():
                gone.setdefault(unit, []).append(student)
        advice = f"the marks still count; to take them back, give forget {self.directory} STUDENT --units"
        return [
            f"{unit} is marked, but not in {self.submitted} any more, of {', '.join(ids)}; {advice} {unit[:2]}"
            for unit, ids in sorted(gone.items())
        ]

    def refuse_unknown(self, students: Sequence[str]) -> None:
        """Raise if one of these ids is neither in the gradebook nor the name of a folder of submissions or marks.

        Raises:
            GradingError: ids are unknown.
            NoGradebookError: the gradebook cannot be read.
        """
        folders = {folder.name for place in (self.submitted, self.store.folder) for folder in place.glob("*")}
        unknown = [student for student in students if student not in folders]
        if unknown:
            known = enrolled(self.coursedir.db_url)[0]
            ids = {student.id for student in known}
            unknown = [student for student in unknown if student not in ids]
        if unknown:
            names = ", ".join(f"{name!r}{_who_is_meant(name, known)}" for name in unknown)
            raise GradingError(f"{self.directory} has no student {names}; give ids as in the roster or in {self.submitted}")

    @property
    def submitted(self) -> Path:
        """The folder of what was handed in. It may be a link, but no link in it is followed."""
        return step_folder(self.coursedir, self.coursedir.submitted_directory)

    def job(self, handed_in: HandedIn, template: dict[str, Any] | None) -> Job:
        """Everything that a worker needs to mark a submission.

        Raises:
            OSError: the file cannot be read.
        """
        data = self._bytes_of(handed_in)
        seed = self.seed_for(handed_in.student, handed_in.unit)
        decisive = [edition(), FORMAT, handed_in.unit, seed, self.device, template, sha256(data).hexdigest()]
        key = sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        return Job(handed_in.student, handed_in.unit, key, data, template, seed, self.sandbox, self.device)

    def _bytes_of(self, handed_in: HandedIn) -> bytes:
        with open_regular(self.submitted, handed_in.path.parts[-3:]) as file:
            return file.read(MAX_FILE_BYTES + 1)

    def replaced(self, handed_in: Iterable[HandedIn]) -> frozenset[tuple[str, str]]:
        """(student, unit) of those whose marks are of an earlier notebook: a newer one was taken in, and is not marked yet."""
        return frozenset((one.student, one.unit) for one in handed_in if self._is_replaced(one))

    def _is_replaced(self, handed_in: HandedIn) -> bool:
        graded = step_folder(self.coursedir, self.coursedir.autograded_directory) / Path(*handed_in.path.parts[-3:])
        try:
            marks = self.store.read(handed_in.student, handed_in.unit)
            if not (marks and marks.digest) or marks.digest == sha256(self._bytes_of(handed_in)).hexdigest():
                return False
            # nbgrader's own command marks as well, and keeps no digest
            return not graded.is_file() or graded.stat().st_mtime_ns < handed_in.path.stat().st_mtime_ns
        except (DamagedMarksError, OSError):  # who marks or shows it says what is wrong with it
            return False

    def template(self, unit: str) -> dict[str, Any] | None:
        """The notebook of a unit as it was released in this class; else the course's own. None if there is no such unit."""
        return template_of(self.coursedir, {"nbgrader": {"assignment": unit, "notebook": unit}})

    def marks_for(self, job: Job) -> StudentMarks | None:
        """The marks of exactly this submission under these settings; None if it has to be marked, perhaps for another time."""
        try:
            marks = self.store.read(job.student, job.unit)
        except DamagedMarksError:
            return None
        has_notebook = self.store.notebook_path(job.student, job.unit).is_file()
        return marks if marks and marks.key == job.key and has_notebook and not marks.unmarked else None

    def record(self, marks: StudentMarks) -> None:
        """Put marks into the gradebook, and leave a note that they are there.

        Raises:
            GradebookError: the gradebook cannot be written, or the time of the submission cannot be read.
            OSError: the note cannot be written.
        """
        note = self._note(marks)
        notebook = self.store.notebook_path(marks.student, marks.unit).read_text(encoding="utf-8")
        self.recorder.record(marks.student, marks.unit, notebook)
        write_atomically(self._note_path(marks), note)

    def is_recorded(self, marks: StudentMarks) -> bool:
        """Whether there is a note that these marks are in this gradebook.

        The database may have been replaced since: :meth:`Recorder.recorded_students` tells.
        """
        try:
            return self._note_path(marks).read_text(encoding="utf-8") == self._note(marks)
        except (OSError, UnicodeDecodeError, GradebookError):
            return False

    def _note_path(self, marks: StudentMarks) -> Path:
        return self.store.path(marks.student, marks.unit).with_suffix(".recorded")

    def _note(self, marks: StudentMarks) -> str:
        """A digest of everything that the gradebook's entry depends on; the time is part of it because of late penalties."""
        return sha256(f"{marks.key} {self.coursedir.db_url} {self.time_of(marks)}".encode()).hexdigest() + "\n"

    def time_of(self, submission: StudentMarks | HandedIn) -> datetime | None:
        """When a submission was handed in, in UTC and without a time zone, if that is known.

        Raises:
            GradebookError: ``timestamp.txt`` cannot be read as a time.
        """
        parts = submission.student, submission.unit, TIME_FILE
        try:
            with open_regular(self.submitted, parts) as file:
                text = file.read(MAX_TIMESTAMP_BYTES).decode().strip()
            return stamped(text) if text else None
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise GradebookError(f"{Path(self.submitted, *parts)} holds no text; write a time like {EXAMPLE}") from None
        except ValueError as error:
            raise GradebookError(f"{Path(self.submitted, *parts)}: {error}") from None
        except OSError as error:
            raise GradebookError(os_trouble(error)) from None


def _who_is_meant(name: str, students: Iterable[Student]) -> str:
    """The ids of students with this user name, as a question; empty if there are none."""
    found = [one.id for one in students if name and one.user_name.casefold() == name.casefold()]
    return f" (is {' or '.join(map(repr, found))} meant?)" if found else ""
