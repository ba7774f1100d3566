"""Late work: what it costs each student, brought up to date in nbgrader's gradebook without marking anything again.

Due dates, extra time and penalties are kept where nbgrader keeps them, and the class's configuration says which of nbgrader's
plug-ins decides what being late costs. What nbgrader cannot know is added: extra time of students who have not handed in yet,
exercises that were dropped, and work of which an LMS says no more than that it was late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import BasePlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.orm import load_only

from autograder.classroom.course import step_folder
from autograder.classroom.csv_tables import full_unit
from autograder.classroom.deadlines import DEADLINES, Deadlines, read_deadlines
from autograder.classroom.dropped import dropped_exercises
from autograder.classroom.gradebook.class_marks import read_marks
from autograder.classroom.gradebook.database import gradebook_exists, open_gradebook
from autograder.classroom.students import IN_TIME_MARK, LATE_MARK, MOODLE_MARK, TIME_FILE
from autograder.contract.units import UNITS
from autograder.hosts.nbgrader_plugins import DeductPerDay
from autograder.support.counted import counted

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

Key = tuple[str, str]
"""A student and a unit."""

GUIDE = "see docs/instructors.md, Late work"
COSTS_NOTHING = f"nothing is deducted for being late; what it costs is set in nbgrader_config.py, {GUIDE}"


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
    """A time in words, rounded up: minutes below two hours, hours and minutes below three days, else days and hours."""
    minutes, hours = ceil(seconds / 60), ceil(seconds / 3600)
    if minutes < 120:
        return counted(minutes, "minute")
    if minutes < 72 * 60:
        return _together(counted(minutes // 60, "hour"), minutes % 60, "minute")
    return _together(counted(hours // 24, "day"), hours % 24, "hour")


def _together(whole: str, rest: int, unit: str) -> str:
    return f"{whole} and {counted(rest, unit)}" if rest else whole


@dataclass(frozen=True)
class LateWork:
    """What is known about late work of a class.

    Attributes:
        late: by (student, unit), of late submissions only.
        untimed: submissions that would cost points if they had been late, and of which nothing says when they were handed in.
        written: those of them beside which a time has been written since they were marked.
        from_moodle: submissions of which Moodle's grading worksheet says when they were handed in.
        undecided: submissions that an LMS calls late, which may have been handed in within the student's extra time.
        changed: submissions of which the gradebook had another penalty before.
        costs: whether the class's configuration takes anything off for being late.
        complaints: what is wrong in the table of deadlines, a line each.
    """

    late: Mapping[Key, Lateness] = field(default_factory=dict)
    untimed: frozenset[Key] = frozenset()
    written: frozenset[Key] = frozenset()
    from_moodle: frozenset[Key] = frozenset()
    undecided: frozenset[Key] = frozenset()
    changed: frozenset[Key] = frozenset()
    costs: bool = True
    complaints: tuple[str, ...] = ()

    def remarks(self, wanted: Callable[[Key], bool], untimed_wanted: Callable[[Key], bool] | None = None) -> list[str]:
        """What to know about the points of the submissions that are wanted: a line for each unit or student.

        Args:
            wanted: which submissions.
            untimed_wanted: of which an unknown time is said; by default of the same.
        """
        written, undecided = sorted(filter(wanted, self.written)), sorted(filter(wanted, self.undecided))
        untimed = sorted(filter(untimed_wanted or wanted, self.untimed - self.written))
        units = {unit: [student for student, one in untimed if one == unit] for unit in sorted({unit for _, unit in untimed})}
        from_moodle = {unit for student, unit in untimed if (student, unit) in self.from_moodle}
        return [
            *(_untimed(unit, whose, unit in from_moodle) for unit, whose in units.items()),
            *(f"{student}, {unit}: {NOT_TAKEN_IN}" for student, unit in written),
            *(_undecided(*one) for one in undecided),
        ]


NOT_TAKEN_IN = f"a time has been written into {TIME_FILE}; start grade again, and it counts"


def _untimed(unit: str, students: Sequence[str], worksheet: bool) -> str:
    who = counted(len(students), "submission")
    what = f"{unit} was due, and nothing says when {who} came in, so nothing is deducted: {', '.join(students)}"
    where = f"submitted/STUDENT/{unit}/{TIME_FILE}"
    how = "give grade Moodle's worksheet (--worksheet), or note the time" if worksheet else "note the time"
    all_in_time = f"if nobody else was, give due {unit[:2]} --in-time"
    return f"{what}; if somebody was late, {how} in {where}; {all_in_time}; {GUIDE}"


def _undecided(student: str, unit: str) -> str:
    what = (
        "the LMS says that it was late, but not when it was handed in; it may be within the extra time, so nothing is deducted"
    )
    return f"{student}, {unit}: {what}; look it up there, and note the time in submitted/{student}/{unit}/{TIME_FILE}; {GUIDE}"


def update_lateness(course: CourseDirectory, deadlines: Deadlines | None = None) -> LateWork:
    """Bring due dates, extra time and penalties in the gradebook up to date: all of them, or on an error none.

    Args:
        course: the class.
        deadlines: by default those in the table of the class. What they do not name stays as nbgrader has it.

    Raises:
        TableError: the table of deadlines or that of dropped exercises cannot be used.
        NoGradebookError: the gradebook cannot be used.
    """
    deadlines, dropped = deadlines or read_deadlines(course), dropped_exercises(course)
    if not gradebook_exists(course.db_url):
        return LateWork(costs=_costs(_policy(course)))
    with open_gradebook(course.db_url) as gradebook:
        for assignment in gradebook.db.query(Assignment).filter(Assignment.name.in_(deadlines.due)):
            assignment.duedate = deadlines.due_in_utc(assignment.name)
        found = _late_work(gradebook, course, deadlines, dropped, update=True)
        gradebook.db.commit()
    return found


def late_work(course: CourseDirectory, gradebook: Gradebook) -> LateWork:
    """The same for the due dates that are in an open gradebook, without changing anything in it.

    Raises:
        TableError: the table of deadlines or that of dropped exercises cannot be used.
    """
    return _late_work(gradebook, course, read_deadlines(course), dropped_exercises(course), update=False)


def _late_work(
    gradebook: Gradebook, course: CourseDirectory, deadlines: Deadlines, dropped: frozenset[Key], update: bool
) -> LateWork:
    policy, now = _policy(course), datetime.now(UTC).replace(tzinfo=None)
    marks, claimed = read_marks(gradebook, UNITS, dropped=dropped), _claimed(course)
    rows = gradebook.db.query(SubmittedNotebook, SubmittedAssignment, Assignment).options(
        load_only(SubmittedNotebook.late_submission_penalty),  # without sums of points, which take a query each
        load_only(SubmittedAssignment.student_id, SubmittedAssignment.timestamp, SubmittedAssignment.extension),
        load_only(Assignment.name, Assignment.duedate),
    )
    rows = rows.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    rows = rows.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name.in_(UNITS))
    late, untimed, undecided, changed = {}, set(), set(), set()
    for notebook, submission, assignment in rows:
        whose, due, extension = (submission.student_id, assignment.name), assignment.duedate, submission.extension
        if whose in deadlines.extra_days or due is None:  # nbgrader fails if only extra time is known
            extension = deadlines.extra_time(*whose) if due else None
        score, max_points = marks.submissions[whose].points, marks.max_scores[assignment.name]
        penalty = partial(_penalty, policy, whose[0], score, max_points)
        claim, longest = claimed.get(whose), seconds_late(now, due, extension)
        seconds: float | None = 0.0
        if claim == LATE_MARK and not deadlines.extra_days.get(whose):
            seconds = None
        elif claim == LATE_MARK and (longest or due is None) and penalty(None):
            undecided.add(whose)
        elif claim is None:
            seconds = seconds_late(submission.timestamp, due, extension)
            if submission.timestamp is None and longest and penalty(longest):
                untimed.add(whose)
        if seconds != 0:
            late[whose] = Lateness(seconds, penalty(seconds), max_points)
        if update:
            submission.extension = extension
            points = late[whose].penalty if whose in late else 0.0
            if (notebook.late_submission_penalty or 0.0) != points:
                changed.add(whose)
                notebook.late_submission_penalty = points or None
    known = {student for (student,) in gradebook.db.query(Student.id)}
    strangers = sorted({student for student, _ in deadlines.extra_days} - known)
    what = f"{DEADLINES.path(course)} gives extra time to"
    complaints = tuple(f"{what} {one!r}, who is not in the class; give ids as in the roster" for one in strangers)
    return LateWork(
        late=late,
        untimed=frozenset(untimed),
        written=_with_mark(course, TIME_FILE) & untimed,
        from_moodle=_with_mark(course, MOODLE_MARK),
        undecided=frozenset(undecided),
        changed=frozenset(changed),
        costs=_costs(policy),
        complaints=complaints,
    )


def _policy(course: CourseDirectory) -> BasePlugin:
    return AssignLatePenalties(config=course.config).plugin_class(config=course.config)


def _costs(policy: BasePlugin) -> bool:
    """Whether a plug-in takes anything off. One of an instructor's own is taken to do so."""
    if isinstance(policy, DeductPerDay):
        return policy.penalty_method == "zero" or bool(policy.at_most and policy.per_day) or bool(policy.marked_late)
    return type(policy) is not LateSubmissionPlugin or policy.penalty_method == "zero"


def seconds_late(timestamp: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """Seconds from a deadline to a submission; 0 if it is in time, or one of the two is not known."""
    if timestamp is None or due is None:
        return 0.0
    return max(0.0, (timestamp - due - (extension or timedelta())).total_seconds())


def _penalty(policy: BasePlugin, student: str, score: float, max_points: float, seconds: float | None) -> float:
    """The points taken off, of those that a student has, for being so late; for None, for being late as an LMS says."""
    if isinstance(policy, DeductPerDay):
        policy.max_points = max_points
    if seconds is None:
        points = policy.penalty_if_marked_late(score) if isinstance(policy, DeductPerDay) else 0.0
    else:
        points = policy.late_submission_penalty(student, score, seconds) or 0.0
    return min(max(0.0, points), score)


def _claimed(course: CourseDirectory) -> dict[Key, str]:
    """What an LMS or the instructor says of submissions without a time: ``LATE_MARK`` or ``IN_TIME_MARK``."""
    timed = _with_mark(course, TIME_FILE)  # which says more
    return {whose: name for name in (IN_TIME_MARK, LATE_MARK) for whose in _with_mark(course, name) - timed}


def _with_mark(course: CourseDirectory, name: str) -> frozenset[Key]:
    """The submissions beside which there is a file of this name."""
    marks = step_folder(course, course.submitted_directory).glob(f"*/*/{name}")
    return frozenset((mark.parent.parent.name, full_unit(mark.parent.name)) for mark in marks if mark.is_file())
