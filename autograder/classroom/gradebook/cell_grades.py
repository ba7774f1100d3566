"""What nbgrader's gradebook holds for each graded cell, read without changing it.

Each function makes a single query: asking for each submission would take minutes for a large class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


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


@dataclass(frozen=True)
class PointsOfCell:
    """The points of one student's graded cell.

    Attributes:
        score: what counts; 0 while the cell waits to be graded.
        automatic, manual, extra: what marking and a person gave; None if they gave none.
        needs_manual_grade: whether a person has yet to look at it.
    """

    score: float
    automatic: float | None
    manual: float | None
    extra: float | None
    needs_manual_grade: bool = False

    @property
    def by_hand(self) -> bool:
        return self.manual is not None or bool(self.extra)


def cell_grades(gradebook: Gradebook, units: Sequence[str]) -> dict[tuple[str, str, str], CellGrade]:
    """All grades for these units, by student, unit and cell."""
    grades = {}
    for key, cell in points_of_each_cell(gradebook, units).items():
        undecided = cell.manual is None and (cell.automatic is None or cell.needs_manual_grade)
        grades[key] = CellGrade(None if undecided else cell.score, cell.by_hand)
    return grades


def points_of_each_cell(gradebook: Gradebook, units: Sequence[str]) -> dict[tuple[str, str, str], PointsOfCell]:
    """The points of all graded cells of these units that were handed in, by student, unit and cell."""
    from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook

    points = Grade.score, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade
    rows = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, BaseCell.name, *points)
    rows = rows.select_from(Grade).join(BaseCell, Grade.cell_id == BaseCell.id)
    rows = rows.join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
    rows = rows.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(units))
    return {(student, unit, cell): PointsOfCell(*values) for student, unit, cell, *values in rows}


def late_penalties(gradebook: Gradebook, units: Sequence[str]) -> dict[tuple[str, str], float]:
    """Points taken off for lateness in these units, by student and unit, where there are any."""
    from nbgrader.api import Assignment, SubmittedAssignment, SubmittedNotebook

    rows = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, SubmittedNotebook.late_submission_penalty)
    rows = rows.select_from(SubmittedNotebook).join(
        SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id
    )
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(units))
    penalties: dict[tuple[str, str], float] = {}
    for student, unit, penalty in rows:
        if penalty:
            penalties[student, unit] = penalties.get((student, unit), 0.0) + penalty
    return penalties
