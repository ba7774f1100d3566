"""Regrade requests: read from a CSV file, answered in the gradebook, and kept so that feedback pages can tell the student."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.csv_cells import formula_safe
from autograder.classroom.csv_tables import ClassTable, Row, TableError, full_unit, read_table
from autograder.classroom.deadlines import read_deadlines
from autograder.classroom.gradebook.cell_grades import PointsOfCell, graded_cells, points_of_each_cell
from autograder.classroom.gradebook.database import open_gradebook
from autograder.classroom.gradebook.enrolment import students_in
from autograder.classroom.gradebook.lateness import update_lateness
from autograder.contract.units import UNITS

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from nbgrader.coursedir import CourseDirectory

    from autograder.classroom.grading.class_to_mark import ClassToMark

AGAIN = "again"
"""In place of points: mark the submission again, and have that count."""


@dataclass(frozen=True)
class Regrade:
    """A request to look at an exercise once more, and what became of it.

    Attributes:
        student, unit, exercise: ids.
        reason: what the student wrote.
        answer: what the instructor wrote.
        points: a number, :data:`AGAIN`, or empty if the points stay as they are.
        before, after: points of the exercise.
        answered: the day, as 2026-11-30.
    """

    student: str
    unit: str
    exercise: str
    reason: str
    answer: str
    points: str
    before: str = ""
    after: str = ""
    answered: str = ""

    @property
    def exercise_key(self) -> tuple[str, str, str]:
        return self.student, self.unit, self.exercise

    @property
    def is_open(self) -> bool:
        """Whether the instructor has yet to decide."""
        return not (self.answer or self.points)


REGRADES = ClassTable("regrades.csv", tuple(field.name for field in fields(Regrade)))


@dataclass(frozen=True)
class Outcome:
    """What became of the requests in a file: answered now, answered before, and still open."""

    answered: tuple[Regrade, ...]
    unchanged: tuple[Regrade, ...]
    open: tuple[Regrade, ...]


def read_regrades(course: CourseDirectory) -> list[Regrade]:
    """The requests that have been answered.

    Raises:
        TableError: the table cannot be used.
        OSError: it cannot be read.
    """
    return [Regrade(**row.cells | {"unit": full_unit(row["unit"])}) for row in REGRADES.rows(course)]


def write_regrades(course: CourseDirectory, regrades: Iterable[Regrade]) -> None:
    """Replace the table of requests that have been answered.

    Raises:
        OSError: it cannot be written; what was there before is still there.
    """
    REGRADES.write(course, map(asdict, regrades))


def regrade(marked_class: ClassToMark, file: Path, mark_again: Callable[[Set[tuple[str, str]]], Sequence[str]]) -> Outcome:
    """Answer the requests in a CSV file: all of them, or on an error none.

    Args:
        marked_class: the class, locked.
        file: with the columns student, unit and exercise, and reason, answer and points if there are any.
        mark_again: marks these submissions, by (student, unit), and returns complaints.

    Raises:
        TableError: the file or a table of the class cannot be used; each bad cell is named.
        ValueError: a submission could not be marked again.
        NoGradebookError: the gradebook cannot be used.
        OSError: a file cannot be read or written.
    """
    course = marked_class.coursedir
    known, deadlines = read_regrades(course), read_deadlines(course)
    with open_gradebook(course.db_url) as gradebook:
        requests, before = _requests(file, gradebook)
    unchanged = tuple(one for one in requests if _same(one, known))
    asked = [one for one in requests if not one.is_open and one not in unchanged]
    again = {(one.student, one.unit) for one in asked if one.points == AGAIN}
    if again and (complaints := mark_again(again)):
        raise ValueError("\n".join([*complaints, f"nothing of {file} has been changed; give it again"]))
    with REGRADES.kept_on_errors(course), open_gradebook(course.db_url) as gradebook:
        marked = points_of_each_cell(gradebook, sorted({one.unit for one in asked}))
        answered = [_answered(one, before, marked, known) for one in asked]
        replaced = {(*one.exercise_key, one.reason) for one in answered}
        write_regrades(course, [*(one for one in known if (*one.exercise_key, one.reason) not in replaced), *answered])
        for one in answered:
            if one.points:
                grade = gradebook.find_grade(one.exercise, one.unit, one.unit, one.student)
                by_marking = marked[one.exercise_key].automatic
                grade.manual_score = None if one.points == AGAIN or float(one.points) == by_marking else float(one.points)
                grade.extra_credit, grade.needs_manual_grade = None, False
        gradebook.db.commit()
    update_lateness(course, deadlines)
    return Outcome(tuple(answered), unchanged, tuple(one for one in requests if one.is_open))


def _requests(file: Path, gradebook: Gradebook) -> tuple[list[Regrade], dict[tuple[str, str, str], PointsOfCell]]:
    """The requests in a file, and the points of the cells of their units."""
    rows = read_table(file, ("student", "unit", "exercise"), ("reason", "answer", "points"))
    units = sorted({full_unit(row["unit"]) for row in rows})
    cells, points = graded_cells(gradebook, units), points_of_each_cell(gradebook, units)
    students = {student.id for student in students_in(gradebook)}
    requests, problems = [], []
    for row in rows:
        unit, exercise = full_unit(row["unit"]), row["exercise"]
        one = Regrade(
            row["student"],
            unit,
            exercise,
            formula_safe(row["reason"]),
            formula_safe(row["answer"]),
            row["points"].casefold().replace(",", "."),  # a decimal comma, as spreadsheets write it in many countries
        )
        if one.student not in students:
            problems.append(row.problem("student", f"no student {one.student!r} is in the class; give ids as in the roster"))
        elif unit not in cells or unit not in UNITS:
            problems.append(row.problem("unit", f"no unit of the course in the gradebook is called {row['unit']!r}"))
        elif exercise not in cells[unit]:
            there = ", ".join(cells[unit])
            problems.append(row.problem("exercise", f"{unit} has no exercise {exercise!r}; there are {there}"))
        elif one.is_open:
            pass  # whatever the gradebook has
        elif one.exercise_key not in points:
            what = f"nothing of {one.student!r} is in the gradebook for {unit}"
            given = f"what they handed in, or else the released notebook, into a folder as {one.student}.ipynb"
            problems.append(row.problem("unit", f"{what}; put {given}, and give grade --units {unit[:2]} --from that folder"))
        elif reason := _points_problem(one.points, cells[unit][exercise]):
            problems.append(row.problem("points", reason))
        requests.append(one)
    problems += _contradictions(rows, requests)
    if problems:
        raise TableError("\n".join(problems))
    return requests, points


def _points_problem(text: str, most: float) -> str:
    """Why a text cannot be the points of an exercise that gives so many; empty if it can."""
    if text in ("", AGAIN):
        return ""
    try:
        points = float(text)
    except ValueError:
        points = -1.0
    if isfinite(points) and 0 <= points <= most:
        return ""
    return f"{text!r} is no number of points from 0 to {most:g}; write such a number, {AGAIN!r} to mark again, or nothing"


def _contradictions(rows: Sequence[Row], requests: Sequence[Regrade]) -> list[str]:
    """A complaint for each request that gives points to an exercise to which another one gives points."""
    given = Counter(one.exercise_key for one in requests if one.points)
    return [
        row.problem("points", f"{one.exercise} of {one.student!r} is given points in several lines; leave them in one")
        for row, one in zip(rows, requests, strict=True)
        if one.points and given[one.exercise_key] > 1
    ]


def _same(one: Regrade, known: Sequence[Regrade]) -> bool:
    """Whether a request was answered before, in the same words and with the same points."""
    return not one.is_open and any(replace(other, before="", after="", answered="") == one for other in known)


def _answered(
    one: Regrade,
    before: dict[tuple[str, str, str], PointsOfCell],
    marked: dict[tuple[str, str, str], PointsOfCell],
    known: Sequence[Regrade],
) -> Regrade:
    """A request with the points of its exercise before and after, and the day."""
    first = next(
        (other.before for other in known if (*other.exercise_key, other.reason) == (*one.exercise_key, one.reason)), ""
    )
    now, new = before[one.exercise_key].score, marked[one.exercise_key]
    after = (new.automatic or 0.0) if one.points == AGAIN else float(one.points) if one.points else new.score
    return replace(one, before=first or f"{now:.6g}", after=f"{after:.6g}", answered=date.today().isoformat())
