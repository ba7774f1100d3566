"""Everything the report is made from: students, submissions, marks, and what the gradebook says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.classroom.gradebook.cell_grades import CellGrade, cell_grades, graded_cells, late_penalties
from autograder.classroom.grading.marks_store import DamagedMarksError, ExerciseMarks, MarksStore, StudentMarks
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
        warnings: what could not be read, a line each.
    """

    name: str
    people: tuple[Student, ...] = ()
    marks: tuple[StudentMarks, ...] = ()
    handed_in: frozenset[tuple[str, str]] = frozenset()
    cells: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    grades: Mapping[tuple[str, str, str], CellGrade] = field(default_factory=dict)
    penalties: Mapping[tuple[str, str], float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_class(directory: Path, db_url: str = "") -> ClassData:
    """Read everything there is, even while the class is being marked. A damaged file of marks becomes a warning.

    Args:
        directory: of the class.
        db_url: of the gradebook; by default that of the class's configuration.

    Raises:
        NoGradebookError: its gradebook cannot be read.
        NoClassError: the directory is not a class, or its configuration cannot be read.
        OSError: a file cannot be read.
    """
    from sqlalchemy import make_url

    from autograder.classroom.gradebook.database import gradebook_url
    from autograder.classroom.grading.class_to_mark import ClassToMark

    store = MarksStore(directory)
    marks, warnings = _marks(store)
    data = ClassData(directory.resolve().name, marks=tuple(marks), warnings=tuple(warnings))
    if not (directory / CONFIG).is_file() and store.folder.is_dir():
        return data
    marked_class = ClassToMark(directory, db_url)
    handed_in, complaints = marked_class.handed_in()
    submissions = frozenset((one.student, one.unit) for one in handed_in)
    data = replace(data, handed_in=submissions, warnings=(*warnings, *complaints))
    url = gradebook_url(marked_class.coursedir, db_url and marked_class.coursedir.db_url)
    address = make_url(url)
    if not db_url and address.get_backend_name() == "sqlite" and not Path(address.database or "").is_file():
        return data  # no student has been enrolled and nothing has been graded
    return _with_gradebook(data, url)


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
        return replace(
            data,
            people=tuple(students_in(gradebook)),
            cells=graded_cells(gradebook, UNITS),
            grades=cell_grades(gradebook, UNITS),
            penalties=late_penalties(gradebook, UNITS),
        )
