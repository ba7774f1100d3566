"""One student's part of the class report: the result of each exercise, and why the student needs help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from autograder.classroom.grading.marks_store import ExerciseMarks, StudentMarks
from autograder.classroom.report.class_data import ClassData
from autograder.classroom.students import Student

SOLVED, PARTLY, WRONG = "solved", "partly", "no points"
BROKEN, UNREADABLE, UNWRITTEN, GONE = "does not run", "file cannot be read", "not written", "not in the file"
ABSENT, WAITING = "no notebook handed in", "not marked yet"
NOT_DUE = "not due yet"
STATES = (SOLVED, PARTLY, WRONG, BROKEN, UNREADABLE, UNWRITTEN, GONE, ABSENT, NOT_DUE, WAITING)
"""The states an exercise of a student can be in; it is always in exactly one."""
UNDECIDED = (ABSENT, NOT_DUE, WAITING)
"""Those without marks. Only the first costs points."""

FAILURES = {
    "missing": "function not there",
    "absent": "no cell for it in the file",
    "broken": "is not Python, or cannot be defined",
    "unwritten": UNWRITTEN,
    "raised": "raises an error",
    "time": "runs out of time",
    "died": "ends its process",
    "misfit": "returns what cannot be judged",
}
"""Why nothing that a function computes could be judged."""
DAMAGED = "file damaged, and marked as far as it can be read,"
UNNAMED, UNKNOWN = "no known mistake", "marked by nbgrader alone"
CUT_OFF = "not in what could be read of the file"
UNJUDGED = {*FAILURES.values(), UNREADABLE, CUT_OFF}
"""Causes that say nothing about what was understood."""
MIN_SHARE = 0.5
"""A student with a smaller share of the points needs help."""
MAX_SHARE_REPEATING = 1 / 3
"""Of the students with marks. A mistake that more of them repeat is for the lecture, and no reason to help each of them."""


@dataclass(frozen=True)
class Result:
    """One student's exercise.

    Attributes:
        points: what the student gets; those of the gradebook where a person gave them.
        mistakes: slugs of the mistakes that were found.
        causes: why points are missing: slugs of mistakes, or one value of :data:`FAILURES` or one of :data:`UNNAMED`,
            :data:`UNREADABLE`, :data:`CUT_OFF` and :data:`UNKNOWN`.
        by_hand: whether a person gave the points.
    """

    unit: str
    exercise: str
    state: str
    points: float
    max_points: float
    mistakes: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    by_hand: bool = False

    @property
    def lost(self) -> float:
        return max(0.0, self.max_points - self.points)

    @property
    def passed(self) -> bool:
        return self.points >= self.max_points


@dataclass(frozen=True)
class StudentReport:
    """One student's results.

    Attributes:
        person: the student.
        results: in the order of the exercises.
        penalty: points taken off for lateness.
        damaged: units of which only a part of the file could be read.
        reasons: why the student needs help, the most serious first; empty if they do not.
    """

    person: Student
    results: tuple[Result, ...]
    penalty: float = 0.0
    damaged: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points of all units, less the penalty."""
        return max(0.0, sum(result.points for result in self.results) - self.penalty)

    @property
    def max_points(self) -> float:
        """Points of the units that are marked or were not handed in; what waits to be marked or is not due does not count."""
        return sum(result.max_points for result in self.results if result.state not in (WAITING, NOT_DUE))

    @property
    def share(self) -> float:
        return self.points / self.max_points if self.max_points else 0.0

    @property
    def handed_in(self) -> bool:
        return any(result.state not in (ABSENT, NOT_DUE) for result in self.results)

    @property
    def marked(self) -> bool:
        return any(result.state not in UNDECIDED for result in self.results)


def result_of(data: ClassData, marks: StudentMarks | None, student: str, unit: str, exercise: str, max_points: float) -> Result:
    """The result of an exercise. What a person entered in the gradebook takes precedence over what marking found.

    Args:
        data: of the class.
        marks: of the student's unit, if there are any.
        student, unit, exercise: ids.
        max_points: the points the exercise gives in this class.
    """
    grade = data.grades.get((student, unit, exercise))
    marked = marks if marks and not marks.unmarked else None  # otherwise the gradebook has nothing of it
    found = next((one for one in marked.exercises if one.id == exercise), None) if marked else None
    by_hand = False
    if grade and grade.score is not None and (grade.by_hand or not found):
        points, by_hand = grade.score, grade.by_hand
    elif found and found.score is not None:
        points = found.score / found.max_score * max_points if found.max_score else 0.0
    else:
        exists = marks or grade or (student, unit) in data.handed_in
        missing = ABSENT if data.is_due(student, unit) else NOT_DUE
        return Result(unit, exercise, WAITING if exists else missing, 0.0, max_points)
    mistakes = tuple(dict.fromkeys(one.slug for one in found.mistakes)) if found else ()
    cause = UNKNOWN
    if found:
        cause = UNREADABLE if marks and marks.problem else FAILURES.get(found.failure, UNNAMED)
        cause = CUT_OFF if marks and marks.damage and found.failure == "absent" else cause
    state = SOLVED if points >= max_points else PARTLY if points > 0 else _state_without_points(found, cause)
    causes = () if state == SOLVED else mistakes or (cause,)
    return Result(unit, exercise, state, points, max_points, mistakes, causes, by_hand)


def _state_without_points(found: ExerciseMarks | None, cause: str) -> str:
    """The state of an exercise without points."""
    if cause == UNREADABLE:
        return UNREADABLE
    if found and found.failure in ("unwritten", "missing", "absent"):
        return GONE if found.failure == "absent" else UNWRITTEN
    return BROKEN if found and found.failure and not found.mistakes else WRONG


def common_mistakes(students: Sequence[StudentReport]) -> frozenset[str]:
    """The slugs of the mistakes that more than :data:`MAX_SHARE_REPEATING` of the students with marks have repeated."""
    marked = [student for student in students if student.marked]
    counts = Counter(slug for student in marked for slug in repeated_mistakes(student))
    return frozenset(slug for slug, number in counts.items() if number > MAX_SHARE_REPEATING * len(marked) and number > 1)


def repeated_mistakes(student: StudentReport) -> dict[str, int]:
    """In how many exercises a student made a mistake, for those made in several, the most frequent first."""
    counts = Counter(slug for result in student.results for slug in result.mistakes if result.state != SOLVED)
    return {slug: exercises for slug, exercises in counts.most_common() if exercises > 1}


def reasons(student: StudentReport, common: Set[str] = frozenset()) -> Iterator[str]:
    """Why a student needs help, the most serious reason first.

    Args:
        common: mistakes that are no reason; see :func:`common_mistakes`.
    """
    if not student.handed_in:
        yield from [ABSENT] if any(result.state == ABSENT for result in student.results) else []
        return
    states: dict[str, set[str]] = {}
    for result in student.results:
        if CUT_OFF in result.causes:
            continue  # the file is named
        states.setdefault(result.unit, set()).add(result.state)
    kinds = {
        f"{ABSENT} for": [unit for unit, found in states.items() if found == {ABSENT}],
        f"{DAMAGED} in": [*student.damaged],
        f"{UNREADABLE} in": [unit for unit, found in states.items() if UNREADABLE in found],
        "nothing runs in": [unit for unit, found in states.items() if BROKEN in found and found <= {BROKEN, UNWRITTEN, GONE}],
        "nothing written in": [unit for unit, found in states.items() if found <= {UNWRITTEN, GONE}],
    }
    yield from (f"{what} {_numbers(units)}" for what, units in kinds.items() if units)
    if student.marked and student.share < MIN_SHARE:
        yield "below half of the points"
    for slug, exercises in repeated_mistakes(student).items():
        if slug not in common:
            yield f"{slug} in {exercises} exercises"


def _numbers(units: list[str]) -> str:
    return ("unit " if len(units) == 1 else "units ") + ", ".join(unit[:2] for unit in units)
