"""The points that nbgrader's gradebook holds for each student and unit, read without changing it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment

from autograder.classroom.gradebook.cell_grades import graded_by_hand, graded_cells, points_of_cells
from autograder.classroom.gradebook.enrolment import students_in
from autograder.classroom.students import Student


@dataclass(frozen=True)
class SubmissionPoints:
    """The points of one student's submission to one unit.

    Attributes:
        points: before anything is taken off.
        penalty: points taken off because it was late.
        timestamp: when it was handed in, in UTC, if that is known.
        needs_manual_grade: whether a person has yet to grade part of it.
        by_hand: whether a person has changed points.
    """

    points: float
    penalty: float
    timestamp: datetime | None
    needs_manual_grade: bool
    by_hand: bool = False

    @property
    def score(self) -> float:
        return max(0.0, self.points - self.penalty)


@dataclass(frozen=True)
class ClassMarks:
    """The marks of a class.

    Attributes:
        students: in the order of the gradebook.
        max_scores: the points a unit gives at most, by unit.
        due: deadlines, by unit.
        submissions: by student and unit; nothing is stored for a unit that was not handed in.
        unmarked: (student, unit) of what was handed in and is not in the gradebook.
    """

    students: tuple[Student, ...]
    max_scores: dict[str, float]
    due: dict[str, datetime | None]
    submissions: dict[tuple[str, str], SubmissionPoints]
    unmarked: frozenset[tuple[str, str]] = frozenset()


def read_marks(
    gradebook: Gradebook,
    units: Sequence[str] = (),
    students: Sequence[str] = (),
    dropped: Collection[tuple[str, str]] = frozenset(),
) -> ClassMarks:
    """The marks in a gradebook; if units or students are named, only theirs. Points of dropped exercises do not count.

    Args:
        gradebook: open.
        units, students: ids.
        dropped: (unit, exercise) of exercises that do not count.
    """
    assignments = [one for one in gradebook.assignments if not units or one.name in units]
    enrolled = tuple(one for one in students_in(gradebook) if not students or one.id in students)
    rows = gradebook.db.query(
        SubmittedAssignment.student_id,
        Assignment.name,
        SubmittedAssignment.score,
        SubmittedAssignment.late_submission_penalty,
        SubmittedAssignment.timestamp,
        SubmittedAssignment.needs_manual_grade,
    ).join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
    by_hand = graded_by_hand(gradebook)
    submissions = {
        (student, unit): SubmissionPoints(
            points or 0.0, penalty or 0.0, timestamp, bool(needs_manual_grade), (student, unit) in by_hand
        )
        for student, unit, points, penalty, timestamp, needs_manual_grade in rows
    }
    max_scores = {one.name: float(one.max_score or 0.0) for one in assignments}
    for unit, cells in graded_cells(gradebook, sorted({unit for unit, _ in dropped} & max_scores.keys())).items():
        max_scores[unit] -= sum(points for name, points in cells.items() if (unit, name) in dropped)
    for key, points in points_of_cells(gradebook, dropped).items():
        if key in submissions:
            submissions[key] = replace(submissions[key], points=submissions[key].points - points)
    return ClassMarks(enrolled, max_scores, {one.name: one.duedate for one in assignments}, submissions)
