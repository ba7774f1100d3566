"""Late work: what it costs each student, brought up to date in nbgrader's gradebook without marking anything again.

Due dates, extra time and penalties are kept where nbgrader keeps them, and the class's configuration says which of nbgrader's
plug-ins decides what being late costs. What nbgrader cannot know is added: extra time of students who have not handed in yet,
exercises that were dropped, and work of which an LMS says no more than that it was late.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import BasePlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.orm import load_only

from autograder.classroom.course import step_folder
from autograder.classroom.csv_tables import full_unit
from autograder.classroom.deadlines import DEADLINES, Deadlines, read_deadlines
from autograder.classroom.dropped import dropped_exercises
from autograder.classroom.gradebook.class_marks import read_marks
from autograder.classroom.gradebook.database import gradebook_exists, open_gradebook
from autograder.classroom.students import LATE_MARK
from autograder.contract.units import UNITS
from autograder.hosts.nbgrader_plugins import DeductPerDay
from autograder.support.counted import counted

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


@dataclass(frozen=True)
class Lateness:
    """How late a submission is, and what that costs.

    Attributes:
        seconds: after the student's own deadline; None if an LMS says that it was late, and nothing says by how much.
        penalty: points taken off.
        max_points: of the unit.
    """

    seconds: float | None
    penalty: float
    max_points: float

    def __str__(self) -> str:
        how = "marked as late by the LMS" if self.seconds is None else f"handed in {duration(self.seconds)} late"
        cost = f"{self.penalty:.4g} of {self.max_points:.4g} points" if self.penalty else "no points"
        return f"{how}: {cost} deducted"


def duration(seconds: float) -> str:
    """A time in words: in minutes below two hours, in hours below three days, else in days and hours. Parts count as whole."""
    minutes, hours = ceil(seconds / 60), ceil(seconds / 3600)
    if minutes < 120:
        return counted(minutes, "minute")
    if hours < 72:
        return counted(hours, "hour")
    days = counted(hours // 24, "day")
    return f"{days} and {counted(hours % 24, 'hour')}" if hours % 24 else days


def update_lateness(
    course: CourseDirectory, deadlines: Deadlines | None = None, only: Collection[tuple[str, str]] | None = None
) -> tuple[dict[tuple[str, str], Lateness], list[str]]:
    """Bring due dates, extra time and penalties in the gradebook up to date: all of them, or on an error none.

    Args:
        course: the class.
        deadlines: by default those in the table of the class. What they do not name stays as nbgrader has it.
        only: (student, unit) of the submissions that notes may name, all if None; everything is brought up to date.

    Returns:
        Lateness by (student, unit), of late submissions only; and notes for the instructor, a line each.

    Raises:
        TableError: the table of deadlines or that of dropped exercises cannot be used.
        NoGradebookError: the gradebook cannot be used.
    """
    deadlines, dropped = deadlines or read_deadlines(course), dropped_exercises(course)
    if not gradebook_exists(course.db_url):
        return {}, []
    with open_gradebook(course.db_url) as gradebook:
        for assignment in gradebook.db.query(Assignment).filter(Assignment.name.in_(deadlines.due)):
            assignment.duedate = deadlines.due_in_utc(assignment.name)
        found = _update_submissions(gradebook, course, deadlines, dropped)
        strangers = sorted(
            {student for student, _ in deadlines.extra_days} - {student for (student,) in gradebook.db.query(Student.id)}
        )
        gradebook.db.commit()
    table = DEADLINES.path(course)
    notes = [f"{table} gives extra time to {one!r}, who is not in the class; give ids as in the roster" for one in strangers]
    reason = "the LMS says that it was late, but not when it was handed in, so it may be within the extra time: no deduction"
    undecided = sorted(one for one in _marked_late(course) if (only is None or one in only) and deadlines.extra_days.get(one))
    return found, [*notes, *(f"{', '.join(one)}: {reason}" for one in undecided)]


def _update_submissions(
    gradebook: Gradebook, course: CourseDirectory, deadlines: Deadlines, dropped: frozenset[tuple[str, str]]
) -> dict[tuple[str, str], Lateness]:
    policy = AssignLatePenalties(config=course.config).plugin_class(config=course.config)
    marks, marked_late = read_marks(gradebook, UNITS, dropped=dropped), _marked_late(course)
    rows = gradebook.db.query(SubmittedNotebook, SubmittedAssignment, Assignment).options(
        load_only(SubmittedNotebook.late_submission_penalty),  # without sums of points, which take a query each
        load_only(SubmittedAssignment.student_id, SubmittedAssignment.timestamp, SubmittedAssignment.extension),
        load_only(Assignment.name, Assignment.duedate),
    )
    rows = rows.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(UNITS))
    found = {}
    for notebook, submission, assignment in rows:
        whose = submission.student_id, assignment.name
        if whose in deadlines.extra_days or assignment.duedate is None:  # nbgrader fails if only extra time is known
            submission.extension = deadlines.extra_time(*whose) if assignment.duedate else None
        by_mark = whose in marked_late and not deadlines.extra_days.get(whose)
        late = 0.0 if whose in marked_late else seconds_late(submission.timestamp, assignment.duedate, submission.extension)
        penalty = 0.0
        if by_mark or late:
            score, max_points = marks.submissions[whose].points, marks.max_scores[assignment.name]
            penalty = min(max(0.0, _penalty(policy, whose[0], score, max_points, None if by_mark else late)), score)
            found[whose] = Lateness(None if by_mark else late, penalty, max_points)
        if (notebook.late_submission_penalty or 0.0) != penalty:
            notebook.late_submission_penalty = penalty or None
    return found


def seconds_late(timestamp: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """Seconds from a deadline to a submission; 0 if it is in time, or one of the two is not known."""
    if timestamp is None or due is None:
        return 0.0
    return max(0.0, (timestamp - due - (extension or timedelta())).total_seconds())


def _penalty(policy: BasePlugin, student: str, score: float, max_points: float, seconds: float | None) -> float:
    if isinstance(policy, DeductPerDay):
        policy.max_points = max_points
    if seconds is None:
        return policy.penalty_if_marked_late(score) if isinstance(policy, DeductPerDay) else 0.0
    return policy.late_submission_penalty(student, score, seconds) or 0.0


def _marked_late(course: CourseDirectory) -> set[tuple[str, str]]:
    """(student, unit) of submissions of which an LMS says that they were late, and not when they were handed in."""
    marks = step_folder(course, course.submitted_directory).glob(f"*/*/{LATE_MARK}")
    return {(mark.parent.parent.name, full_unit(mark.parent.name)) for mark in marks}
