"""What an instructor decides about a class: when units are due, who has extra time, which exercises do not count.

A decision is in a table of the class, which people can read, and takes effect in the gradebook: both, or on an error neither.
Nothing is marked again.
"""

from __future__ import annotations

from autograder.classroom.deadlines import DEADLINES, Deadlines, write_deadlines
from autograder.classroom.dropped import DROPPED, reasons_for_dropping, write_dropped
from autograder.classroom.gradebook.cell_grades import graded_cells
from autograder.classroom.gradebook.database import gradebook_exists, open_gradebook
from autograder.classroom.gradebook.lateness import LateWork, update_lateness
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.students import IN_TIME_MARK, LATE_MARK, TIME_FILE
from autograder.support.atomic_files import write_atomically


def decide_deadlines(marked_class: ClassToMark, deadlines: Deadlines) -> LateWork:
    """Write the deadlines of a class, and change the penalties for late work to what they are then.

    Raises:
        NoGradebookError: the gradebook cannot be used.
        OSError: the table cannot be written.
    """
    course = marked_class.coursedir
    with DEADLINES.kept_on_errors(course):
        write_deadlines(course, deadlines)
        return update_lateness(course, deadlines)


def note_in_time(marked_class: ClassToMark, unit: str) -> int:
    """Note beside each submission of a unit that it was in time, unless something says when it came, or that it was late.

    It holds until another notebook takes the place of this one.

    Returns:
        How many submissions it was noted of.

    Raises:
        OSError: a note cannot be written.
    """
    places = [one.path.parent for one in marked_class.handed_in([unit])[0]]
    unknown = [place for place in places if not any((place / name).exists() for name in (TIME_FILE, LATE_MARK, IN_TIME_MARK))]
    for place in unknown:
        write_atomically(place / IN_TIME_MARK, "in time, as the instructor says\n")
    return len(unknown)


def drop_exercise(marked_class: ClassToMark, unit: str, exercise: str, reason: str) -> None:
    """Leave an exercise out of everything that adds up points. Without a reason, one that was given before stays.

    Raises:
        ValueError: there is no such exercise, or nothing else in its unit gives points.
        NoGradebookError: the gradebook cannot be used.
        OSError: the table cannot be written.
    """
    reasons = reasons_for_dropping(marked_class.coursedir)
    cells = _points_by_exercise(marked_class, unit)
    if exercise not in cells:
        raise ValueError(f"{unit} has no exercise {exercise!r}; there are {', '.join(cells)}")
    if not any(points for name, points in cells.items() if name != exercise and (unit, name) not in reasons):
        raise ValueError(f"nothing would give points in {unit} without {exercise}; leave the unit out of exports instead")
    _write_dropped(marked_class, reasons | {(unit, exercise): reason or reasons.get((unit, exercise), "")})


def restore_exercise(marked_class: ClassToMark, unit: str, exercise: str) -> None:
    """Have a dropped exercise count again.

    Raises:
        ValueError: it is not dropped.
        NoGradebookError: the gradebook cannot be used.
        OSError: the table cannot be written.
    """
    reasons = reasons_for_dropping(marked_class.coursedir)
    if (unit, exercise) not in reasons:
        dropped = ", ".join(name for one, name in sorted(reasons) if one == unit) or "none"
        raise ValueError(f"{exercise!r} is not dropped; dropped exercises of {unit}: {dropped}")
    _write_dropped(marked_class, {key: reason for key, reason in reasons.items() if key != (unit, exercise)})


def _points_by_exercise(marked_class: ClassToMark, unit: str) -> dict[str, float]:
    """The points of each graded exercise of a unit: as in the gradebook, or in the course if the unit is not in there.

    Raises:
        NoGradebookError: the gradebook cannot be used.
    """
    if gradebook_exists(marked_class.coursedir.db_url):
        with open_gradebook(marked_class.coursedir.db_url) as gradebook:
            if cells := graded_cells(gradebook, [unit]).get(unit):
                return cells
    from autograder.exercises import exercises_of

    return {exercise.id: exercise.max_score for exercise in exercises_of(unit) if exercise.graded}


def _write_dropped(marked_class: ClassToMark, reasons: dict[tuple[str, str], str]) -> None:
    course = marked_class.coursedir
    with DROPPED.kept_on_errors(course):
        write_dropped(course, reasons)
        update_lateness(course)
