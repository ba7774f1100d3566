"""Takes what students handed in from a source into nbgrader's ``submitted/STUDENT/UNIT/UNIT.ipynb``. No file is lost.

Who handed a file in is told only by the names on its path; its unit is, if possible, the one that the release wrote into it.
If a student handed in twice, the newest attempt counts, and what it replaces is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.gradebook.enrolment import enrolled
from autograder.classroom.intake.attempts import Attempt, AttemptReader, NoUnitError, Owner
from autograder.classroom.intake.source_files import SourceFile, UnreadableFileError
from autograder.classroom.intake.sources import SourceError, opened
from autograder.classroom.intake.student_matching import FROM_WORKSHEET, Students, UnknownStudentError
from autograder.classroom.intake.submission_filenames import ignore_reason, is_notebook, strip_lms_decoration
from autograder.classroom.intake.submitted_store import OLDER, TAKEN, TIME_NOTED, UNCHANGED, SubmittedStore
from autograder.classroom.students import TIME_FILE
from autograder.contract.units import UNITS
from autograder.support.counted import counted
from autograder.support.one_line import one_line
from autograder.support.os_trouble import NO_SPACE, os_trouble

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

UNRECOGNISED, IGNORED = "unrecognised", "ignored"


@dataclass(frozen=True)
class FileResult:
    """A file of a source, and what was done with it.

    Attributes:
        file: its path in the source, in one line.
        students: ids of the students who handed it in; several for a group, none if they are not known.
        unit: the unit it answers; empty if that is not known.
        reason: why it was not taken, in one line; empty if it was.
        notebook: whether its name calls it a notebook.
    """

    file: str
    students: tuple[str, ...] = ()
    unit: str = ""
    reason: str = ""
    notebook: bool = False

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}" if self.reason else self.file


@dataclass(frozen=True)
class IntakeResult:
    """What was done with the files of a source. Each file is in exactly one of the five groups.

    Attributes:
        taken: files that count from now on.
        unchanged: files whose bytes counted already.
        older: the student has handed in a newer file.
        unrecognised: a person has to look at the file; the reason says what to do.
        ignored: files that are not submissions.
        new_students: ids that the class did not know; always empty if it has a roster.
    """

    taken: tuple[FileResult, ...] = ()
    unchanged: tuple[FileResult, ...] = ()
    older: tuple[FileResult, ...] = ()
    unrecognised: tuple[FileResult, ...] = ()
    ignored: tuple[FileResult, ...] = ()
    new_students: tuple[str, ...] = ()

    @property
    def submissions(self) -> tuple[tuple[str, str], ...]:
        """(student, unit) of the submissions in the source that count, in order."""
        there = {(student, one.unit) for one in (*self.taken, *self.unchanged) for student in one.students}
        return tuple(sorted(there))

    @property
    def summary(self) -> str:
        """One line with the number of files in each group."""
        counts = [f"{len(self.taken)} taken", f"{len(self.unchanged)} unchanged", f"{len(self.older)} older"]
        counts += [f"{len(self.unrecognised)} unrecognised", f"{len(self.ignored)} ignored"]
        noted = sum(one.reason == TIME_NOTED for one in self.unchanged)
        return ", ".join([*counts, f"{counted(noted, 'time')} noted"] if noted else counts)


def collect(directory: Path, source: Path, unit: str | None = None, db_url: str = "") -> IntakeResult:
    """Take what students handed in into a class. Doing so again with the same source changes nothing.

    Args:
        directory: of the class.
        source: a folder or a zip: nbgrader's exchange, an LMS's download, or files named after students.
        unit: the unit of notebooks that do not say which one they answer.
        db_url: of the gradebook; by default that of the class's configuration.

    Raises:
        OSError: the disk is full; what was taken before is kept.
        SourceError: the source cannot be used; nothing has been taken.
        NoClassError: the directory is not a class.
        NoGradebookError: the gradebook cannot be read.
    """
    course, students = _class(directory, source, unit, db_url)
    return take_in(source, students, SubmittedStore.of(course), unit)


def newest_attempts(
    directory: Path, source: Path, unit: str | None = None, db_url: str = ""
) -> tuple[dict[tuple[str, str], Attempt], tuple[FileResult, ...]]:
    """The attempts that :func:`collect` would take, by student and unit, and the files that it would not recognise.

    Nothing is taken. Arguments are those of :func:`collect`.

    Raises:
        SourceError: the source cannot be used.
        NoClassError: the directory is not a class.
        NoGradebookError: the gradebook cannot be read.
    """
    _, students = _class(directory, source, unit, db_url)
    sorted_out = _SortedOut()
    with opened(source) as files:
        groups = _by_student_and_unit(
            _attempts(files, AttemptReader(files, students, unit), sorted_out), sorted_out, students.table
        )
        newest = {key: _that_counts(group) for key, group in groups.items()}
    return newest, sorted_out.result(students).unrecognised


def _class(directory: Path, source: Path, unit: str | None, db_url: str) -> tuple[CourseDirectory, Students]:
    """The class that a source is for, and its students. Raises a SourceError if the source or unit cannot be right."""
    if unit is not None and unit not in UNITS:
        raise SourceError(f"no unit is called {unit!r}; there are {', '.join(UNITS)}")
    from autograder.classroom.course import existing_class, step_folder
    from autograder.classroom.file_owners import FILE_OWNERS, read_file_owners
    from autograder.classroom.gradebook.database import gradebook_url

    course = existing_class(directory)
    submitted = step_folder(course, course.submitted_directory)
    given = source.resolve()
    if submitted.is_relative_to(given) or given.is_relative_to(submitted):
        raise SourceError(f"{source}: is part of the class; name a folder or zip with what students handed in")
    students, roster = enrolled(gradebook_url(course, db_url))
    return course, Students(students, roster, read_file_owners(course), str(directory / FILE_OWNERS.name))


def take_in(source: Path, students: Students, store: SubmittedStore, unit: str | None = None) -> IntakeResult:
    """The same as :func:`collect`, for given students and a given store.

    Raises:
        SourceError: the source cannot be used.
    """
    sorted_out = _SortedOut()
    with opened(source) as files:
        attempts = _attempts(files, AttemptReader(files, students, unit), sorted_out)
        _store_newest(_by_student_and_unit(attempts, sorted_out, students.table), store, sorted_out)
    return sorted_out.result(students)


class _SortedOut:
    """The group in which each file of a source is."""

    def __init__(self) -> None:
        self._results: dict[SourceFile, tuple[str, FileResult]] = {}

    def put(self, group: str, file: SourceFile, students: Sequence[str] = (), unit: str = "", reason: str = "") -> None:
        """Put a file into a group. If it has several owners, the best result for any of them counts."""
        order = (TAKEN, UNCHANGED, OLDER, UNRECOGNISED, IGNORED)
        known = self._results.get(file)
        if known is None or order.index(group) < order.index(known[0]):
            self._results[file] = (
                group,
                FileResult(file.name, tuple(students), unit, one_line(reason), is_notebook(file.parts[-1])),
            )

    def result(self, students: Students) -> IntakeResult:
        groups: dict[str, list[FileResult]] = defaultdict(list)
        for file in sorted(self._results, key=lambda file: (file.parts, file.number)):
            group, result = self._results[file]
            groups[group].append(result)
        known = {student.id for student in students.all}
        there = {student for one in (*groups[TAKEN], *groups[UNCHANGED]) for student in one.students}
        return IntakeResult(
            **{group: tuple(files) for group, files in groups.items()}, new_students=tuple(sorted(there - known))
        )


def _attempts(files: Iterable[SourceFile], reader: AttemptReader, sorted_out: _SortedOut) -> list[Attempt]:
    """The notebooks whose student and unit are known. All other files are put into their groups."""
    attempts: list[Attempt] = []
    others: list[tuple[SourceFile, Owner]] = []
    for file in files:
        if reason := ignore_reason(file.parts):
            sorted_out.put(IGNORED, file, reason=reason)
            continue
        owner = None
        try:
            owner = reader.owner(file)
            if file.problem or is_notebook(file.parts[-1]):
                attempts.append(reader.attempt(file, owner))
            else:
                others.append((file, owner))
        except (UnknownStudentError, NoUnitError, UnreadableFileError) as error:
            reason = file.problem or str(error)
            if not file.problem and not is_notebook(file.parts[-1]):
                reason = "is no notebook; if a student handed it in, ask for the .ipynb file"
            sorted_out.put(UNRECOGNISED, file, owner.students if owner else (), reason=reason)
    for file in files:
        if file.parts[-1] == TIME_FILE and (reason := reader.unused_time(file, attempts)):
            sorted_out.put(UNRECOGNISED, file, reason=reason)
    with_notebook = {student for attempt in attempts for student in attempt.owner.students}
    for file, owner in others:
        if with_notebook.issuperset(owner.students):
            sorted_out.put(IGNORED, file, owner.students, reason="came with a notebook")
            continue
        try:
            attempts.append(reader.attempt_in_other_format(file, owner))
        except (NoUnitError, UnreadableFileError) as error:
            reason = f"{error} (handed in by {_listed(owner.students)})"
            sorted_out.put(UNRECOGNISED, file, owner.students, reason=reason)
    return _late_for_its_unit(_without_wrong_units(attempts, sorted_out), reader.unit)


def _late_for_its_unit(attempts: Sequence[Attempt], unit: str | None) -> list[Attempt]:
    """The attempts, of which those of another unit are neither late nor in time: what an LMS says is about the assignment.

    Args:
        attempts: of a source.
        unit: that the source is of; if None, that of most of its attempts of which the LMS says whether they were late.
    """
    told = Counter(attempt.unit for attempt in attempts if attempt.owner.claim.late is not None)
    of = unit or next((name for name, _ in told.most_common(1)), None)
    return [
        attempt
        if attempt.owner.claim.late is None or attempt.unit == of
        else replace(attempt, owner=replace(attempt.owner, claim=replace(attempt.owner.claim, late=None)))
        for attempt in attempts
    ]


def _without_wrong_units(attempts: Sequence[Attempt], sorted_out: _SortedOut) -> list[Attempt]:
    """The attempts without those that were handed in for one unit and answer another.

    They are either wrong notebooks or came along with the right one in the student's folder.
    """
    right = {(attempt.owner.students, attempt.unit) for attempt in attempts if attempt.stated == attempt.unit}
    kept = []
    for attempt in attempts:
        students, stated = attempt.owner.students, attempt.stated
        if stated in (None, attempt.unit):
            kept.append(attempt)
        elif (students, stated) in right:
            sorted_out.put(IGNORED, attempt.file, students, attempt.unit, f"came with {stated}")
        else:
            reason = f"was handed in as {stated} and is {attempt.unit}; ask {_listed(students)} for the right notebook"
            sorted_out.put(UNRECOGNISED, attempt.file, students, attempt.unit, reason)
    return kept


def _by_student_and_unit(
    attempts: Iterable[Attempt], sorted_out: _SortedOut, table: str
) -> dict[tuple[str, str], list[Attempt]]:
    """The attempts by student and unit, the newest last. Attempts that may be from several people are not recognised.

    Args:
        attempts: that have an owner and a unit.
        sorted_out: where files are put that are not recognised.
        table: the path of the class's table of files, for messages.
    """
    found: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        for student in attempt.owner.students:
            found[student, attempt.unit].append(attempt)
    groups = {}
    for (student, unit), group in sorted(found.items()):
        if reason := _several_people(group, student, table):
            for attempt in group:
                sorted_out.put(UNRECOGNISED, attempt.file, (), unit, reason)
        else:
            groups[student, unit] = sorted(group, key=lambda attempt: attempt.order)
    return groups


def _store_newest(groups: Mapping[tuple[str, str], Sequence[Attempt]], store: SubmittedStore, sorted_out: _SortedOut) -> None:
    for (student, unit), attempts in groups.items():
        counts = _that_counts(attempts)
        try:
            group, reason = store.put(counts, student)
        except UnreadableFileError as error:
            group, reason = UNRECOGNISED, f"cannot be taken: {error}"
        except OSError as error:
            if error.errno in NO_SPACE:
                raise  # nothing else could be taken, either
            group, reason = UNRECOGNISED, f"cannot be taken: {os_trouble(error)}"
        sorted_out.put(group, counts.file, counts.owner.students, unit, reason)
        for attempt in attempts[: attempts.index(counts)]:
            same = attempt.digest == counts.digest
            reason = f"is the same as {counts.file.name}" if same else f"{counts.file.name} is newer"
            earlier_group = group if group == UNRECOGNISED else UNCHANGED if same else OLDER
            sorted_out.put(earlier_group, attempt.file, attempt.owner.students, unit, reason)
        for attempt in attempts[attempts.index(counts) + 1 :]:
            reason = f"{attempt.unreadable()}, so {counts.file.name} counts; ask for another copy"
            sorted_out.put(UNRECOGNISED, attempt.file, attempt.owner.students, unit, reason)


def _that_counts(attempts: Sequence[Attempt]) -> Attempt:
    """The newest of which something can be read; if nothing can be read of any, the newest."""
    *earlier, newest = attempts
    return next((one for one in reversed(attempts) if not one.unreadable()), newest) if earlier else newest


def _several_people(group: Sequence[Attempt], student: str, table: str) -> str:
    """Why attempts that seem to be from one student may be from several people; empty if nothing indicates that."""
    people: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for attempt in group:
        people[attempt.file.parts[: attempt.owner.place]].add(attempt.owner.claim.person)
    if any(len(persons - {""}) > 1 for persons in people.values()):
        lines = " and ".join(f"{person},ID" for person in sorted({attempt.owner.claim.person for attempt in group} - {""}))
        advice = f"rename what they handed in after their ids, or add the lines {lines} to {table}"
        advice += FROM_WORKSHEET if any(attempt.owner.claim.form == "Moodle" for attempt in group) else ""
        return f"two people have the name of {student!r}; {advice}"
    if (
        any(attempt.owner.derived for attempt in group)
        and len({strip_lms_decoration(attempt.file.parts[-1]) for attempt in group}) > 1
    ):
        return f"lies with another notebook of its unit under {student!r}, perhaps another student's; give the class a roster"
    return ""


def _listed(students: Sequence[str]) -> str:
    return " and ".join(repr(student) for student in students)
