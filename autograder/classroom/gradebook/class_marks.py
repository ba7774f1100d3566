"""The points that nbgrader's gradebook holds for each student and unit, read without changing it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment

from autograder.classroom.gradebook.cell_grades import PointsOfCell, graded_cells, late_penalties, points_of_each_cell
from autograder.classroom.gradebook.enrolment import students_in
from autograder.classroom.students import Student

STILL_BY_HAND = "points given by hand still count, although the answer was marked again"
BY_HAND_GUIDE = "see docs/instructors.md, Grading by hand"


@dataclass(frozen=True)
class SubmissionPoints:
    """The points of one student's submission to one unit.

    Attributes:
        points: before anything is taken off.
        penalty: points taken off because it was late.
        timestamp: when it was handed in, in UTC, if that is known.
        needs_manual_grade: whether a person has yet to grade part of it.
        by_hand: whether a person has changed points.
        marked_since: whether an answer was marked again after a person gave it points, which still count.
    """

    points: float
    penalty: float
    timestamp: datetime | None
    needs_manual_grade: bool
    by_hand: bool = False
    marked_since: bool = False

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
        not_due: (student, unit) of what was not handed in, and still may be: it is not due yet, or not for this student.
    """

    students: tuple[Student, ...]
    max_scores: dict[str, float]
    due: dict[str, datetime | None]
    submissions: dict[tuple[str, str], SubmissionPoints]
    unmarked: frozenset[tuple[str, str]] = frozenset()
    not_due: frozenset[tuple[str, str]] = frozenset()

    def still_by_hand(self, wanted: Callable[[tuple[str, str]], bool]) -> list[str]:
        """A line for each unit in which points given by hand count for answers that were marked again since.

        Args:
            wanted: of which (student, unit).
        """
        units: dict[str, list[str]] = {}
        for (student, unit), entry in sorted(self.submissions.items()):
            if entry.marked_since and wanted((student, unit)):
                units.setdefault(unit, []).append(student)
        return [f"{unit}: {STILL_BY_HAND}: {', '.join(ids)}; {BY_HAND_GUIDE}" for unit, ids in sorted(units.items())]


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
    names = [one.name for one in assignments]
    enrolled = tuple(one for one in students_in(gradebook) if not students or one.id in students)
    cells: dict[tuple[str, str], list[PointsOfCell]] = defaultdict(list)
    for (student, unit, name), cell in points_of_each_cell(gradebook, names).items():
        if (unit, name) not in dropped:
            cells[student, unit].append(cell)
    penalties = late_penalties(gradebook, names)
    rows = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, SubmittedAssignment.timestamp)
    rows = rows.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id).filter(Assignment.name.in_(names))
    submissions = {}
    for student, unit, timestamp in rows:
        given = cells[student, unit]
        points, open_question = (
            sum(cell.score for cell in given),
            any(cell.needs_manual_grade and not cell.by_hand for cell in given),
        )
        by_hand, since = any(cell.by_hand for cell in given), any(cell.by_hand for cell in given if cell.needs_manual_grade)
        penalty = penalties.get((student, unit), 0.0)
        submissions[student, unit] = SubmissionPoints(float(points), penalty, timestamp, open_question, by_hand, since)
    max_scores = {one.name: float(one.max_score or 0.0) for one in assignments}
    for unit, graded in graded_cells(gradebook, sorted({unit for unit, _ in dropped} & max_scores.keys())).items():
        max_scores[unit] -= sum(points for name, points in graded.items() if (unit, name) in dropped)
    return ClassMarks(enrolled, max_scores, {one.name: one.duedate for one in assignments}, submissions)
