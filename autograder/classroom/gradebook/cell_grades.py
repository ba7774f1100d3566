"""What nbgrader's gradebook holds for each graded cell, read without changing it.

Each function makes a single query: asking for each submission would take minutes for a large class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from sqlalchemy.orm import Query


@dataclass(frozen=True)
class CellGrade:
    """The grade of one student's graded cell.

    Attributes:
        score: points; None while the cell waits to be graded.
        by_hand: whether a person gave the points.
    """

    score: float | None
    by_hand: bool = False


def graded_cells(gradebook: Gradebook, units: Sequence[str]) -> dict[str, dict[str, float]]:
    """The graded cells of each of these units that the gradebook knows, with their points, in the gradebook's order."""
    from nbgrader.api import Assignment, GradeCell, Notebook

    rows = gradebook.db.query(Assignment.name, GradeCell.name, GradeCell.max_score)
    rows = rows.select_from(GradeCell).join(Notebook, GradeCell.notebook_id == Notebook.id).join(Notebook.assignment)
    cells: dict[str, dict[str, float]] = {}
    for unit, name, points in rows.filter(Assignment.name.in_(units)):
        cells.setdefault(unit, {})[name] = points
    return cells


def cell_grades(gradebook: Gradebook, units: Sequence[str]) -> dict[tuple[str, str, str], CellGrade]:
    """All grades for these units, by student, unit and cell."""
    from nbgrader.api import Assignment, BaseCell, Grade

    columns = (BaseCell.name, Grade.score, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    grades = {}
    for student, unit, cell, score, automatic, manual, extra, open_question in _grades(gradebook, *columns).filter(
        Assignment.name.in_(units)
    ):
        by_hand = manual is not None or bool(extra)
        undecided = manual is None and (automatic is None or open_question)
        grades[student, unit, cell] = CellGrade(None if undecided else score, by_hand)
    return grades


def graded_by_hand(gradebook: Gradebook) -> set[tuple[str, str]]:
    """(student, unit) of submissions for which a person has given points."""
    from nbgrader.api import Grade

    by_hand = Grade.manual_score.is_not(None) | (Grade.extra_credit > 0)
    return {(student, unit) for student, unit in _grades(gradebook).filter(by_hand)}


@dataclass(frozen=True)
class PointsOfCell:
    """The points of one student's graded cell: those that count, and those that marking and a person have given."""

    score: float
    automatic: float | None
    manual: float | None
    extra: float | None


def points_of_each_cell(gradebook: Gradebook, units: Sequence[str]) -> dict[tuple[str, str, str], PointsOfCell]:
    """The points of all graded cells of these units that were handed in, by student, unit and cell."""
    from nbgrader.api import Assignment, BaseCell, Grade

    rows = _grades(gradebook, BaseCell.name, Grade.score, Grade.auto_score, Grade.manual_score, Grade.extra_credit)
    rows = rows.filter(Assignment.name.in_(units))
    return {(student, unit, cell): PointsOfCell(*points) for student, unit, cell, *points in rows}


def points_of_cells(gradebook: Gradebook, cells: Collection[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """The points that these (unit, cell) together add to each submission, by student and unit."""
    from nbgrader.api import Assignment, BaseCell, Grade

    points: dict[tuple[str, str], float] = defaultdict(float)
    of_units = Assignment.name.in_({unit for unit, _ in cells})
    for student, unit, cell, score in _grades(gradebook, BaseCell.name, Grade.score).filter(of_units):
        if (unit, cell) in cells:
            points[student, unit] += score or 0.0
    return dict(points)


def _grades(gradebook: Gradebook, *columns: Any) -> Query:
    """A query for student, unit and these columns of every grade."""
    from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook

    rows = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, *columns)
    rows = rows.select_from(Grade).join(BaseCell, Grade.cell_id == BaseCell.id)
    rows = rows.join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
    rows = rows.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    return rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)


def late_penalties(gradebook: Gradebook, units: Sequence[str]) -> dict[tuple[str, str], float]:
    """Points taken off for lateness in these units, by student and unit, where there are any."""
    from nbgrader.api import Assignment, SubmittedAssignment, SubmittedNotebook

    rows = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, SubmittedNotebook.late_submission_penalty)
    rows = rows.select_from(SubmittedNotebook).join(
        SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id
    )
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(units))
    return {(student, unit): penalty for student, unit, penalty in rows if penalty}
