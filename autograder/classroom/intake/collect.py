"""What students handed in, wherever it comes from → nbgrader's ``submitted/STUDENT/UNIT/UNIT.ipynb``. No file is lost.

Whose a file is, only names outside of it tell; which unit it is, what the release wrote into it tells first. Where a student
handed in twice, the newest counts, and what it replaces is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.gradebook.enrolment import enrolled
from autograder.classroom.intake.attempts import Attempt, NoUnitError, Owner, Reader
from autograder.classroom.intake.file_names import ignorable, is_notebook, own_words
from autograder.classroom.intake.shelf import OLDER, TAKEN, UNCHANGED, Shelf
from autograder.classroom.intake.sources import SourceError, SourceFile, UnreadableFileError, opened
from autograder.classroom.intake.student_matching import NobodyError, Students
from autograder.contract.units import UNITS
from autograder.support.one_line import one_line

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

UNRECOGNISED, IGNORED = "unrecognised", "ignored"


@dataclass(frozen=True)
class Arrival:
    """A file of a source, and what became of it.

    Attributes:
        file: what it is called in the source, in one line.
        students: whose it is, ids; several for a group, none if that is not known.
        unit: which unit it answers; empty if that is not known.
        reason: why it was not taken, in one line; empty if it was.
    """

    file: str
    students: tuple[str, ...] = ()
    unit: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}" if self.reason else self.file


@dataclass(frozen=True)
class Intake:
    """What became of the files of a source. Each is in one of the five.

    Attributes:
        taken: it counts now.
        unchanged: the same bytes counted already.
        older: the student has handed in a newer one.
        unrecognised: a person has to look; the reason says what to do.
        ignored: nothing that was to be marked.
        new_students: ids that the class did not know; never any if it has a roster.
    """

    taken: tuple[Arrival, ...] = ()
    unchanged: tuple[Arrival, ...] = ()
    older: tuple[Arrival, ...] = ()
    unrecognised: tuple[Arrival, ...] = ()
    ignored: tuple[Arrival, ...] = ()
    new_students: tuple[str, ...] = ()

    @property
    def submissions(self) -> tuple[tuple[str, str], ...]:
        """Students and units that the source holds what counts for, in order."""
        counted = {(student, one.unit) for one in (*self.taken, *self.unchanged) for student in one.students}
        return tuple(sorted(counted))

    @property
    def summary(self) -> str:
        """One line with the numbers."""
        counts = [f"{len(self.taken)} taken", f"{len(self.unchanged)} unchanged", f"{len(self.older)} older"]
        return ", ".join([*counts, f"{len(self.unrecognised)} unrecognised", f"{len(self.ignored)} ignored"])


def collect(directory: Path, source: Path, unit: str | None = None, db_url: str = "") -> Intake:
    """Take what students handed in into a class. The same source again changes nothing.

    Args:
        directory: of the class.
        source: a folder or a zip: nbgrader's exchange, an LMS's download, files named after students.
        unit: which unit notebooks answer that do not say so themselves.
        db_url: of the gradebook, if not the one of the class's configuration.

    Raises:
        SourceError: the source cannot be used; nothing has been taken.
        NoGradebookError: the class cannot be used.
    """
    course, students = _class(directory, source, unit, db_url)

    def shelved(step: str):
        return lambda student, unit: Path(course.format_path(step, student, unit))

    shelf = Shelf(shelved(course.submitted_directory), shelved(f"{course.submitted_directory}-earlier"))
    return take_in(source, students, shelf, unit)


def newest_attempts(
    directory: Path, source: Path, unit: str | None = None, db_url: str = ""
) -> tuple[dict[tuple[str, str], Attempt], tuple[Arrival, ...]]:
    """What :func:`collect` would let count, by student and unit, and the files that it would not recognise. Nothing is taken.

    Raises:
        SourceError: the source cannot be used.
        NoGradebookError: the class cannot be used.
    """
    _, students = _class(directory, source, unit, db_url)
    sorted_out = _SortedOut()
    with opened(source) as files:
        groups = _groups(_attempts(files, Reader(files, students, unit), sorted_out), sorted_out)
    return {whose: group[-1] for whose, group in groups.items()}, sorted_out.intake(students).unrecognised


def _class(directory: Path, source: Path, unit: str | None, db_url: str) -> tuple[CourseDirectory, Students]:
    """The class that a source is for, and its students."""
    if unit is not None and unit not in UNITS:
        raise SourceError(f"no unit is called {unit!r}; there are {', '.join(UNITS)}")
    from autograder.classroom.course import existing_class
    from autograder.classroom.gradebook.reading import database

    course = existing_class(directory)
    submitted = Path(course.root, course.submitted_directory).resolve()
    given = source.resolve()
    if submitted.is_relative_to(given) or given.is_relative_to(submitted):
        raise SourceError(f"{source}: is part of the class; name a folder or zip with what students handed in")
    return course, Students(*enrolled(database(course, db_url)))


def take_in(source: Path, students: Students, shelf: Shelf, unit: str | None = None) -> Intake:
    """The same with the students and the place given.

    Raises:
        SourceError: the source cannot be used.
    """
    sorted_out = _SortedOut()
    with opened(source) as files:
        _place(_attempts(files, Reader(files, students, unit), sorted_out), shelf, sorted_out)
    return sorted_out.intake(students)


class _SortedOut:
    """Which class each file is in."""

    def __init__(self) -> None:
        self._where: dict[SourceFile, tuple[str, Arrival]] = {}

    def put(self, where: str, file: SourceFile, students: Sequence[str] = (), unit: str = "", reason: str = "") -> None:
        """Say what became of a file. Of what became of it for the members of a group, the best counts."""
        order = (TAKEN, UNCHANGED, OLDER, UNRECOGNISED, IGNORED)
        known = self._where.get(file)
        if known is None or order.index(where) < order.index(known[0]):
            self._where[file] = where, Arrival(file.name, tuple(students), unit, one_line(reason))

    def intake(self, students: Students) -> Intake:
        kinds: dict[str, list[Arrival]] = defaultdict(list)
        for file in sorted(self._where, key=lambda file: (file.parts, file.number)):
            where, arrival = self._where[file]
            kinds[where].append(arrival)
        known = {student.id for student in students.all}
        counted = {student for one in (*kinds[TAKEN], *kinds[UNCHANGED]) for student in one.students}
        return Intake(**{kind: tuple(files) for kind, files in kinds.items()}, new_students=tuple(sorted(counted - known)))


def _attempts(files: Iterable[SourceFile], reader: Reader, sorted_out: _SortedOut) -> list[Attempt]:
    """The notebooks that a student and a unit are known of. What becomes of the other files is said here."""
    attempts: list[Attempt] = []
    others: list[tuple[SourceFile, Owner]] = []
    for file in files:
        if reason := ignorable(file.parts):
            sorted_out.put(IGNORED, file, reason=reason)
            continue
        owner = None
        try:
            owner = reader.owner(file)
            if file.problem or is_notebook(file.parts[-1]):
                attempts.append(reader.attempt(file, owner))
            else:
                others.append((file, owner))
        except (NobodyError, NoUnitError, UnreadableFileError) as error:
            reason = file.problem or str(error)
            if not file.problem and not is_notebook(file.parts[-1]):
                reason = "is no notebook; if a student handed it in, ask for the .ipynb file"
            sorted_out.put(UNRECOGNISED, file, owner.students if owner else (), reason=reason)
    with_notebook = {student for attempt in attempts for student in attempt.owner.students}
    for file, owner in others:
        if with_notebook.issuperset(owner.students):
            sorted_out.put(IGNORED, file, owner.students, reason="came with a notebook")
        else:
            reason = f"is no notebook; ask {_listed(owner.students)} for the .ipynb file"
            sorted_out.put(UNRECOGNISED, file, owner.students, reason=reason)
    return _as_stated(attempts, sorted_out)


def _as_stated(attempts: Sequence[Attempt], sorted_out: _SortedOut) -> list[Attempt]:
    """Without those that were handed in as one unit and are another: the student's folder, or the wrong notebook."""
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


def _groups(attempts: Iterable[Attempt], sorted_out: _SortedOut) -> dict[tuple[str, str], list[Attempt]]:
    """The attempts by student and unit, the newest last. Those that may be several people's are left out, and nobody's."""
    found: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        for student in attempt.owner.students:
            found[student, attempt.unit].append(attempt)
    groups = {}
    for (student, unit), group in sorted(found.items()):
        if reason := _several_people(group, student):
            for attempt in group:
                sorted_out.put(UNRECOGNISED, attempt.file, (), unit, reason)
        else:
            groups[student, unit] = sorted(group, key=lambda attempt: attempt.order)
    return groups


def _place(attempts: Iterable[Attempt], shelf: Shelf, sorted_out: _SortedOut) -> None:
    for (student, unit), (*earlier, newest) in _groups(attempts, sorted_out).items():
        try:
            where, reason = shelf.put(newest, student)
        except (UnreadableFileError, OSError) as error:
            where, reason = UNRECOGNISED, f"cannot be taken: {getattr(error, 'strerror', None) or error}"
        sorted_out.put(where, newest.file, newest.owner.students, unit, reason)
        for attempt in earlier:
            same = attempt.digest == newest.digest
            reason = f"is the same as {newest.file.name}" if same else f"{newest.file.name} is newer"
            kind = where if where == UNRECOGNISED else UNCHANGED if same else OLDER
            sorted_out.put(kind, attempt.file, attempt.owner.students, unit, reason)


def _several_people(group: Sequence[Attempt], student: str) -> str:
    """Why attempts that seem to be one student's may be several people's; empty if nothing says so."""
    people: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for attempt in group:
        people[attempt.file.parts[: attempt.owner.place]].add(attempt.owner.claim.person)
    if any(len(persons - {""}) > 1 for persons in people.values()):
        return f"two people have the name of {student!r}; rename what they handed in after their ids"
    if any(attempt.owner.derived for attempt in group) and len({own_words(attempt.file.parts[-1]) for attempt in group}) > 1:
        return f"lies with another notebook of its unit under {student!r}, perhaps another student's; give the class a roster"
    return ""


def _listed(students: Sequence[str]) -> str:
    return " and ".join(repr(student) for student in students)
