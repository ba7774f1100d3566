"""Everything the report is made from: students, submissions, marks, and what the gradebook says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.classroom.deadlines import read_deadlines
from autograder.classroom.dropped import dropped_exercises
from autograder.classroom.gradebook.cell_grades import CellGrade, cell_grades, graded_cells, late_penalties
from autograder.classroom.grading.marks_store import DamagedMarksError, ExerciseMarks, MarksStore, StudentMarks
from autograder.classroom.intake.submitted_store import earlier_folder, first_kept
from autograder.classroom.students import Student
from autograder.contract.units import UNITS
from autograder.publishing.nbgrader_course import CONFIG


@dataclass(frozen=True)
class ClassData:
    """A class at a moment.

    Attributes:
        name: of its directory.
        people: the students enrolled.
        marks: what marking found, ordered by student and unit.
        handed_in: (student, unit) of every submission that exists, marked or not.
        cells: for each unit that the gradebook knows, its graded cells and their points.
        grades: by (student, unit, cell).
        penalties: points taken off for lateness, by (student, unit), where there are any.
        dropped: (unit, exercise) of exercises that do not count.
        times: when submissions were handed in, by (student, unit), where that is known; all times are in UTC.
        first_times: when the first attempt was handed in that a later one replaced, likewise.
        due: when units are due, where that is known.
        extra_time: by (student, unit).
        moment: as of when the class is seen; None for now, whenever that is.
        warnings: what could not be read, a line each.
    """

    name: str
    people: tuple[Student, ...] = ()
    marks: tuple[StudentMarks, ...] = ()
    handed_in: frozenset[tuple[str, str]] = frozenset()
    cells: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    grades: Mapping[tuple[str, str, str], CellGrade] = field(default_factory=dict)
    penalties: Mapping[tuple[str, str], float] = field(default_factory=dict)
    dropped: frozenset[tuple[str, str]] = frozenset()
    times: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    first_times: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    due: Mapping[str, datetime] = field(default_factory=dict)
    extra_time: Mapping[tuple[str, str], timedelta] = field(default_factory=dict)
    moment: datetime | None = None
    warnings: tuple[str, ...] = ()

    def is_due(self, student: str, unit: str) -> bool:
        """Whether a student's unit was due by then.

        A unit without a due date counts as due if it was released. Released is what the gradebook knows, or without one all.
        """
        if unit not in self.due:
            return not self.cells or unit in self.cells
        now = self.moment or datetime.now(UTC).replace(tzinfo=None)
        return self.due[unit] + self.extra_time.get((student, unit), timedelta()) <= now


def read_class(directory: Path, db_url: str = "") -> ClassData:
    """Read everything there is, even while the class is being marked. A damaged file of marks becomes a warning.

    Args:
        directory: of the class.
        db_url: of the gradebook; by default that of the class's configuration.

    Raises:
        NoGradebookError: its gradebook cannot be read.
        NoClassError: the directory is not a class, or its configuration cannot be read.
        TableError: the table of deadlines or that of dropped exercises cannot be used.
        OSError: a file cannot be read.
    """
    from autograder.classroom.gradebook.database import gradebook_exists
    from autograder.classroom.gradebook.recorder import GradebookError
    from autograder.classroom.grading.class_to_mark import ClassToMark

    store = MarksStore(directory)
    marks, warnings = _marks(store)
    data = ClassData(directory.resolve().name, marks=tuple(marks), warnings=tuple(warnings))
    if not (directory / CONFIG).is_file() and store.folder.is_dir():
        return data
    marked_class = ClassToMark(directory, db_url)
    handed_in, complaints = marked_class.handed_in()
    course, times = marked_class.coursedir, {}
    for one in handed_in:
        try:
            if time := marked_class.time_of(one):
                times[one.student, one.unit] = time
        except GradebookError as error:
            complaints.append(str(error))
    kept = {(student, unit): earlier_folder(course, student, unit) for student, unit in times}
    deadlines = read_deadlines(course)
    data = replace(
        data,
        handed_in=frozenset((one.student, one.unit) for one in handed_in),
        dropped=dropped_exercises(course),
        times=times,
        first_times={key: first for key, folder in kept.items() if (first := first_kept(folder))},
        due={unit: due for unit in deadlines.due if (due := deadlines.due_in_utc(unit))},
        extra_time={key: extra for key in deadlines.extra_days if (extra := deadlines.extra_time(*key))},
        warnings=(*warnings, *complaints),
    )
    if not db_url and not gradebook_exists(course.db_url):
        return data  # no student has been enrolled and nothing has been graded
    return _without(marked_class.replaced(handed_in), _with_gradebook(data, course.db_url))


def _without(replaced: frozenset[tuple[str, str]], data: ClassData) -> ClassData:
    """The class without marks of notebooks that newer ones have replaced, so that these are seen to wait for theirs."""
    return replace(
        data,
        marks=tuple(one for one in data.marks if (one.student, one.unit) not in replaced),
        grades={key: grade for key, grade in data.grades.items() if key[:2] not in replaced},
        penalties={key: penalty for key, penalty in data.penalties.items() if key not in replaced},
    )


def _marks(store: MarksStore) -> tuple[list[StudentMarks], list[str]]:
    """The marks of the course's units, and a line for each damaged file. Equal fingerprints share one string in memory."""
    marks: list[StudentMarks] = []
    warnings: list[str] = []
    tables: dict[str, str] = {}
    for student, unit in store.submissions():
        try:
            one = store.read(student, unit)
        except DamagedMarksError as error:
            warnings.append(str(error))
            continue
        if one and one.unmarked:
            warnings.append(f"{student}, {unit}: unmarked, the marker failed on {one.unmarked}; grade again")
        if one and one.unit in UNITS:
            marks.append(replace(one, exercises=tuple(_with_shared_tables(exercise, tables) for exercise in one.exercises)))
    return marks, warnings


def _with_shared_tables(exercise: ExerciseMarks, tables: dict[str, str]) -> ExerciseMarks:
    return replace(exercise, fingerprints=tuple(tables.setdefault(table, table) for table in exercise.fingerprints))


def _with_gradebook(data: ClassData, url: str) -> ClassData:
    from autograder.classroom.gradebook.database import open_gradebook
    from autograder.classroom.gradebook.enrolment import students_in

    with open_gradebook(url) as gradebook:
        due = {one.name: one.duedate for one in gradebook.assignments if one.duedate and one.name in UNITS}
        return replace(
            data,
            due=due | dict(data.due),
            people=tuple(students_in(gradebook)),
            cells=graded_cells(gradebook, UNITS),
            grades=cell_grades(gradebook, UNITS),
            penalties=late_penalties(gradebook, UNITS),
        )
