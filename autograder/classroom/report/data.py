"""What is known of a class: who is in it, what came in, its marks, and what people changed in the gradebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.grading.marks_store import DamagedMarksError, ExerciseMarks, MarksStore, StudentMarks
from autograder.classroom.students import Student
from autograder.contract.units import UNITS
from autograder.publishing.nbgrader_course import CONFIG

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


@dataclass(frozen=True)
class Grade:
    """What the gradebook says of one graded cell: points (None if nobody decided yet), and whether a person gave them."""

    score: float | None
    by_hand: bool = False


@dataclass(frozen=True)
class ClassData:
    """A class as it stands.

    Attributes:
        name: of its directory.
        people: those enrolled.
        marks: what marking found out, by student and unit.
        handed_in: (student, unit) of every submission that is there, marked or not.
        cells: for each unit that the gradebook knows its graded cells and their points.
        grades: by (student, unit, cell).
        penalties: points taken off for lateness by (student, unit), where there are any.
        warnings: what could not be read, a line for each.
    """

    name: str
    people: tuple[Student, ...] = ()
    marks: tuple[StudentMarks, ...] = ()
    handed_in: frozenset[tuple[str, str]] = frozenset()
    cells: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    grades: Mapping[tuple[str, str, str], Grade] = field(default_factory=dict)
    penalties: Mapping[tuple[str, str], float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_class(directory: Path, db_url: str = "") -> ClassData:
    """Everything there is, also while marking goes on. A damaged file of marks becomes a warning.

    Args:
        directory: of the class.
        db_url: of the gradebook, if not the one of the class's configuration.

    Raises:
        NoGradebookError: its gradebook cannot be read.
        NoClassError: this is no class, or its configuration cannot be read.
        OSError: a file cannot be read.
    """
    from sqlalchemy import make_url

    from autograder.classroom.gradebook.reading import database
    from autograder.classroom.grading.class_to_mark import ClassToMark

    store = MarksStore(directory)
    marks, warnings = _marks(store)
    data = ClassData(directory.resolve().name, marks=tuple(marks), warnings=tuple(warnings))
    if not (directory / CONFIG).is_file() and store.folder.is_dir():
        return data
    marked_class = ClassToMark(directory, db_url)
    handed_in, complaints = marked_class.handed_in()
    there = frozenset((one.student, one.unit) for one in handed_in)
    data = replace(data, handed_in=there, warnings=(*warnings, *complaints))
    address = database(marked_class.coursedir, db_url and marked_class.coursedir.db_url)
    file = make_url(address)
    if not db_url and file.get_backend_name() == "sqlite" and not Path(file.database or "").is_file():
        return data  # nobody is enrolled, and nothing graded
    return _with_gradebook(data, address)


def _marks(store: MarksStore) -> tuple[list[StudentMarks], list[str]]:
    """The marks, and what is damaged. Fingerprints that many students share are kept once."""
    marks, warnings, tables = [], [], {}
    for path in sorted(store.folder.glob("*/*.json")):
        try:
            one = store.read(path.parent.name, path.stem)
        except DamagedMarksError as error:
            warnings.append(str(error))
            continue
        if one and one.unit in UNITS:
            marks.append(replace(one, exercises=tuple(_shared(exercise, tables) for exercise in one.exercises)))
    return marks, warnings


def _shared(exercise: ExerciseMarks, tables: dict[str, str]) -> ExerciseMarks:
    return replace(exercise, fingerprints=tuple(tables.setdefault(table, table) for table in exercise.fingerprints))


def _with_gradebook(data: ClassData, db_url: str) -> ClassData:
    from autograder.classroom.gradebook.reading import open_gradebook

    with open_gradebook(db_url) as gradebook:
        people = tuple(Student(one.id, one.first_name or "", one.last_name or "") for one in gradebook.students)
        return replace(data, people=people, cells=_cells(gradebook), grades=_grades(gradebook), penalties=_late(gradebook))


def _cells(gradebook: Gradebook) -> dict[str, dict[str, float]]:
    """The graded cells of each unit, in the order in which the gradebook has them."""
    from nbgrader.api import Assignment, GradeCell, Notebook

    rows = gradebook.db.query(Assignment.name, GradeCell.name, GradeCell.max_score)
    rows = rows.select_from(GradeCell).join(Notebook, GradeCell.notebook_id == Notebook.id).join(Notebook.assignment)
    cells: dict[str, dict[str, float]] = {}
    for unit, name, points in rows.filter(Assignment.name.in_(UNITS)):
        cells.setdefault(unit, {})[name] = points
    return cells


def _grades(gradebook: Gradebook) -> dict[tuple[str, str, str], Grade]:
    """All grades in one query: asking for each submission would take minutes for a large class."""
    from nbgrader.api import Assignment, BaseCell, SubmittedAssignment, SubmittedNotebook
    from nbgrader.api import Grade as Row

    rows = gradebook.db.query(
        SubmittedAssignment.student_id,
        Assignment.name,
        BaseCell.name,
        Row.score,
        Row.auto_score,
        Row.manual_score,
        Row.extra_credit,
        Row.needs_manual_grade,
    )
    rows = rows.select_from(Row).join(BaseCell, Row.cell_id == BaseCell.id)
    rows = rows.join(SubmittedNotebook, Row.notebook_id == SubmittedNotebook.id)
    rows = rows.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(UNITS))
    grades = {}
    for student, unit, cell, score, automatic, manual, extra, open_question in rows:
        by_hand = manual is not None or bool(extra)
        undecided = manual is None and (automatic is None or open_question)
        grades[student, unit, cell] = Grade(None if undecided else score, by_hand)
    return grades


def _late(gradebook: Gradebook) -> dict[tuple[str, str], float]:
    from nbgrader.api import Assignment, SubmittedAssignment, SubmittedNotebook

    rows = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, SubmittedNotebook.late_submission_penalty)
    rows = rows.select_from(SubmittedNotebook).join(
        SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id
    )
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(UNITS))
    return {(student, unit): penalty for student, unit, penalty in rows if penalty}
